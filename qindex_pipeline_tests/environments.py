"""Environments of their own, installed from the package index as this machine reaches it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from qindex_pipeline_tests import command

ROOT = Path(__file__).parents[1]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "qindex_pipeline")
"""What a wheel of the project is made of, as the Dockerfile copies it."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment in a folder."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin") / "python"

    def install(
        self, *arguments: str | Path, compiled: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Install with uv where it is there, else with pip; relative files are the project's."""
        uv = shutil.which("uv")
        pip = [self.python, "-m", "pip", "install", "--disable-pip-version-check"]
        tool = [uv, "pip", "install", "--python", self.python] if uv else pip
        return subprocess.run(
            [*tool, "-q", "--compile" if compiled else "--no-compile", *arguments],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
        )

    def install_project(self, *, compiled: bool = False) -> subprocess.CompletedProcess[str]:
        """Build and install the project itself, not editable, from a copy: a build writes there."""
        copy = self.folder / "source"
        copy.mkdir()
        for name in SOURCES:
            if (ROOT / name).is_dir():
                shutil.copytree(
                    ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copy(ROOT / name, copy)
        return self.install("--no-deps", copy, compiled=compiled)

    def run(
        self, folder: Path, *arguments: str | Path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run its Python with `arguments` in `folder`; it sees no other variable of ours."""
        return subprocess.run(
            [self.python, *arguments],
            cwd=folder,
            env=command.environment(**variables),
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )


@contextmanager
def environment(folder: Path) -> Generator[Environment]:
    """A new environment without packages, of this interpreter; its 0.3 GB and more go again."""
    uv = shutil.which("uv")
    if uv:
        make = [uv, "venv", "-q", "--python", sys.executable, folder]
    else:
        make = [sys.executable, "-m", "venv", folder]
    subprocess.run(make, check=True, capture_output=True)
    try:
        yield Environment(folder)
    finally:
        shutil.rmtree(folder)
