"""Where a public URL is really asked: on itself, or on the loopback server of a folder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Addresses:
    """Maps the URLs that rows carry to the ones that are requested, and back.

    Both are base URLs that end in `/`; a site that is asked where it lives has neither.
    """

    public_base: str = ""
    local_base: str = ""

    def local(self, url: str) -> str:
        """The URL to request for a public one."""
        return _rebased(url, self.public_base, self.local_base)

    def public(self, url: str) -> str:
        """The public URL of a requested one."""
        return _rebased(url, self.local_base, self.public_base)


def _rebased(url: str, old: str, new: str) -> str:
    if not old:
        return url
    if url + "/" == old:
        return new
    return new + url[len(old) :] if url.startswith(old) else url
