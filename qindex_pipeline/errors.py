"""The kinds of failure that a person may have to act on, and their exit codes.

An error's text is one line: what happened, to which variable, site, page or file, and what
to do next.
"""


class QIndexError(Exception):
    """Base of every error that is meant to be read by a person."""

    exit_code = 1


class WorkError(QIndexError):
    """The call was right, the work failed: a site is down, a key is refused, no index yet."""

    exit_code = 1


class TransientError(WorkError):
    """What failed may heal by itself: nobody answered, or a service had too much to do."""


class UsageError(QIndexError):
    """The call was wrong: an empty question, a malformed file, an unknown site or setting."""

    exit_code = 2
