"""The README's transcript is what the commands print; UPDATE_README=1 writes it anew."""

import os
import re
from pathlib import Path

from qindex_pipeline_tests.command import qindex

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TRANSCRIPT = re.compile(r"(?<=<!-- transcript -->\n).*?(?=<!-- /transcript -->)", re.DOTALL)

COMMANDS = (
    ("ingest", "docs", "--site", "handbook", "--base-url", "https://docs.example.com/"),
    ("ask", "How do I bring up the whole stack with Docker?"),
    ("ask", "How do I bake sourdough bread?"),
)


def test_the_transcript_in_the_readme_is_what_the_commands_print(tmp_path: Path):
    variables = {
        "QINDEX_DATA": str(tmp_path / "data"),
        "QINDEX_SITES": str(tmp_path / "sites.yaml"),
        "QINDEX_PROFILE": "offline",
        "COLUMNS": "100",
    }
    blocks = []
    for command in COMMANDS:
        done = qindex(ROOT, *command, **variables)
        assert done.returncode == 0, done.stderr
        words = [f'"{word}"' if " " in word else word for word in command]
        blocks.append(f"$ qindex {' '.join(words)}\n{done.stdout.rstrip()}\n")
    # A fence inside the output needs a longer one around it; seconds differ from run to run.
    text = re.sub(r"done in [\d.]+ s", "done in … s", "\n".join(blocks))
    text = "\n".join(line.rstrip() for line in text.splitlines())
    transcript = f"````\n{text}\n````\n"
    readme = README.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_README"):
        README.write_text(TRANSCRIPT.sub(lambda _: transcript, readme), encoding="utf-8")
        return
    found = TRANSCRIPT.search(readme)
    assert found is not None
    assert without_numbers(found.group()) == without_numbers(transcript)


def without_numbers(transcript: str) -> str:
    """Confidences differ in their last digit between processors."""
    return re.sub(r"\b\d\.\d\d\b", "0.00", transcript)
