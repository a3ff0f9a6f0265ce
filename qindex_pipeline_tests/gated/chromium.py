"""Where the gated tests find Chromium: /usr/bin/chromium, or the path in QINDEX_CHROMIUM."""

import os
from pathlib import Path

import pytest

CHROMIUM = Path(os.environ.get("QINDEX_CHROMIUM") or "/usr/bin/chromium")

NEEDS_CHROMIUM = [
    pytest.mark.gated,
    pytest.mark.skipif(
        not CHROMIUM.exists(),
        reason=f"no Chromium at {CHROMIUM}: `apt-get install chromium`, or set QINDEX_CHROMIUM",
    ),
]
"""The marks of a module whose tests drive it."""
