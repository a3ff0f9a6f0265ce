"""Questions from code: what installs a package."""

import re
from collections.abc import Iterator

from qindex_pipeline.questions.generators.rule_set.markup import Block
from qindex_pipeline.questions.generators.rule_set.phrasing import Asked

_MAX_LINES = 60
_INSTALLERS = re.compile(
    r"^(?:[$>#%] +)?(?:sudo +)?(?:python3? +-m +|py +-m +|uv +)?"
    r"(?:(?:npm|pnpm|bun) +(?:install|add|i)|yarn +(?:global +)?add|pip3? +install|"
    r"uv +(?:add|tool +install)|add|(?:pipx|conda|mamba|brew|apt|apt-get|dnf|yum|zypper|gem|cargo|"
    r"choco|winget|scoop|snap|helm|go|luarocks|cabal|opam) +install|poetry +add|pdm +add|"
    r"apk +add|pacman +-S\w*|composer +require|dotnet +add +package|docker +pull|cargo +add|"
    r"go +get|bundle +add|mix +archive\.install|flutter +pub +add|dart +pub +add) +(?P<rest>.+)$"
)
_PACKAGE = re.compile(r"^@?[A-Za-z][\w./@+-]{1,60}$")


def installed_package(line: str) -> str | None:
    """The package that a shell line installs, without version and flags, or None."""
    match = _INSTALLERS.match(line.strip())
    if match is None:
        return None
    for word in match["rest"].split():
        if word.startswith("-"):
            continue
        name = re.sub(r"(?<=.)(?:@|==|>=|~=|<|\[|:).*$", "", word.strip("\"'`"))
        return name if _PACKAGE.match(name) and name not in {".", "-r"} else None
    return None


def install_questions(block: Block) -> Iterator[Asked]:
    """How to install each package that the code block's command lines install."""
    seen: set[str] = set()
    for line in block.text.split("\n")[:_MAX_LINES]:
        name = installed_package(line)
        if name and name not in seen:
            seen.add(name)
            yield Asked(f"what is the command to install the {name} package", 0.95)
            yield Asked(f"how do I install {name}", 0.88)
