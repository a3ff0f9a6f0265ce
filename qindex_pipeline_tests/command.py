"""The command line as a subprocess, in a folder of its own, without keys and without Ollama."""

import os
import subprocess
import sys
from pathlib import Path

CLOSED = "http://127.0.0.1:9"
"""An address at which nothing listens: port 9 is the discard service, which no machine runs now."""


def environment(**variables: str) -> dict[str, str]:
    """What a subprocess sees: nothing of ours but `variables`."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {"QINDEX_OLLAMA_URL": CLOSED, "COLUMNS": "120"} | variables


def qindex(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `qindex` with `arguments` in `folder`."""
    return python(folder, "-m", "qindex_pipeline", *arguments, **variables)


def python(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run this Python with `arguments` in `folder`."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(**variables),
        timeout=300,
        check=False,
    )


def write_site(folder: Path, **bodies: str) -> Path:
    """Write HTML pages into a folder: the name of a page and the HTML of its main content."""
    folder.mkdir(exist_ok=True)
    for name, body in bodies.items():
        (folder / f"{name}.html").write_text(
            f'<html lang="en"><head><title>{name}</title></head>'
            f"<body><main>{body}</main></body></html>"
        )
    return folder
