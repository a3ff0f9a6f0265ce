"""What the extras of this package add to an installation, read from its own metadata.

The base installation asks an index; the extra `pipeline` adds what builds one.
"""

import re
from importlib.metadata import requires
from importlib.util import find_spec

_REQUIREMENT = re.compile(r"(?P<package>[A-Za-z0-9._-]+).*;.*\bextra == ['\"](?P<extra>[a-z0-9-]+)")


def modules_of(extra: str) -> frozenset[str]:
    """Top-level modules of the packages that an extra adds; each is named as its package is."""
    found = map(_REQUIREMENT.match, requires("qindex_pipeline") or [])
    return frozenset(
        match["package"].lower().replace("-", "_").partition(".")[0]
        for match in found
        if match and match["extra"] == extra
    )


def install_command(extra: str) -> str:
    """What adds the extra to this installation."""
    return f"pip install 'qindex_pipeline[{extra}]'"


def is_installed(extra: str) -> bool:
    """Whether everything that the extra adds can be imported."""
    return all(find_spec(name) is not None for name in modules_of(extra))
