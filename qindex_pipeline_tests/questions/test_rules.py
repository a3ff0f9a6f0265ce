"""The rules end to end: what each pattern of documentation is asked."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qindex_pipeline.questions.generators.rule_set import propose

INTRO = "Acme is a tool that moves parcels between depots.\n\n"

# (rule, title, heading path, text, expected question, words that the evidence must hold)
RULES = [
    (
        "a heading with a gerund",
        "Acme",
        [],
        "## Installing plugins\n\nCopy the folder to disk.",
        "How do I install plugins in Acme?",
        "Copy the folder",
    ),
    (
        "an imperative heading with a number",
        "Acme",
        [],
        "## 2. Register the schema\n\nAdd it there.",
        "How do I register the schema in Acme?",
        "Add it there",
    ),
    (
        "installation names the page",
        "Acme",
        [],
        "# Acme\n\n## Installation\n\nUnpack the archive.",
        "How do I install Acme?",
        "Unpack the archive",
    ),
    (
        "how to",
        "Acme",
        [],
        "## How to reset a password\n\nOpen the settings page.",
        "How do I reset a password in Acme?",
        "Open the settings page",
    ),
    (
        "how it works",
        "Acme",
        [],
        "## How routes work\n\nEach route is tried in order.",
        "How do routes work in Acme?",
        "tried in order",
    ),
    (
        "a versus heading",
        "Acme",
        [],
        "## Pull vs push\n\nPull reads, push writes to the depot.",
        "What is the difference between pull and push in Acme?",
        "Pull reads",
    ),
    (
        "why with a name",
        "Intro",
        [],
        "## Why Acme?\n\nIt keeps every parcel in one clean list.",
        "Why should I use Acme?",
        "one clean list",
    ),
    (
        "a pronoun in a heading",
        "Parcel cache",
        [],
        "## Why is this important?\n\nIt saves time, often.",
        "Why is Parcel cache important?",
        "saves time",
    ),
    (
        "a question of a FAQ",
        "FAQ",
        [],
        (
            "## Common issues\n\n"
            "How do I change my editor?\n\n"
            "Set the variable to the path of the editor."
        ),
        "How do I change my editor?",
        "Set the variable",
    ),
    (
        "a noun heading",
        "Acme",
        [],
        "## Parcel states\n\nParcels wait, travel, or rest in a depot.",
        "What are parcel states in Acme?",
        "Parcels wait",
    ),
    (
        "usage in something",
        "Parcel list",
        [],
        "## Usage in scripts\n\nCall the parcel list by name.",
        "How do I use the parcel list in scripts?",
        "Call the parcel list",
    ),
    (
        "an integration",
        "Parcel list",
        [],
        "## Zapper integration\n\nPaste the Zapper key into a form.",
        "How do I integrate Parcel list with Zapper?",
        "Zapper key",
    ),
    (
        "to X, do Y",
        "Acme",
        [],
        "To cancel a parcel, run `acme cancel`.",
        "How do I cancel a parcel in Acme?",
        "To cancel a parcel, run `acme cancel`.",
    ),
    (
        "use X to Y",
        "Acme",
        [],
        "Use the `acme-cli` to add routes to your depot.",
        "How do I add routes to my depot in Acme?",
        "Use the `acme-cli`",
    ),
    (
        "if you want to",
        "Acme",
        [],
        "If you want to keep the old list, pass a second name.",
        "How do I keep the old list in Acme?",
        "If you want to",
    ),
    (
        "you can, shown with code",
        "Acme",
        [],
        "You can rename a depot with `acme mv`.",
        "How do I rename a depot with acme mv in Acme?",
        "You can rename",
    ),
    (
        "you can, not shown",
        "Acme",
        [],
        "You can also rename your depot at any time.",
        "Can I rename my depot at any time in Acme?",
        "You can also rename",
    ),
    (
        "something can be done",
        "Acme",
        [],
        "Routes can be disabled in the settings.",
        "How do I disable routes in Acme?",
        "Routes can be disabled",
    ),
    (
        "if you",
        "Acme",
        [],
        "If you delete a depot, all parcels return to their sender.",
        "What happens if I delete a depot in Acme?",
        "If you delete a depot",
    ),
    (
        "trouble with advice",
        "Acme",
        [],
        "When the upload fails, you should restart the service.",
        "What should I do when the upload fails in Acme?",
        "When the upload fails",
    ),
    (
        "a condition behind",
        "Acme",
        [],
        "The import stops if the file is missing.",
        "What happens if the file is missing in Acme?",
        "The import stops",
    ),
    (
        "a default",
        "Acme",
        [],
        "The timeout defaults to 30 seconds.",
        "What is the default of the timeout in Acme?",
        "defaults to 30",
    ),
    (
        "by default",
        "Acme",
        [],
        "By default, parcels are stored in the cellar.",
        "Where are parcels stored by default in Acme?",
        "By default",
    ),
    (
        "a state by default",
        "Acme",
        [],
        "A tour has night routes. Night routes are all disabled by default.",
        "Are night routes disabled by default in Acme?",
        "disabled by default",
    ),
    (
        "under a condition, use X to Y",
        "Acme",
        [],
        "If the depot is full, use a waiting list to queue parcels.",
        "How do I queue parcels in Acme?",
        "use a waiting list",
    ),
    (
        "use X when you want to Y",
        "Acme",
        [],
        "Use a waiting list when you want to queue parcels.",
        "How do I queue parcels in Acme?",
        "when you want to",
    ),
    (
        "when to use X",
        "Acme",
        [],
        "Use a waiting list when you want to queue parcels.",
        "When should I use a waiting list in Acme?",
        "when you want to",
    ),
    (
        "an example of how to",
        "Acme",
        [],
        "Here is an example of how to queue parcels:\n\n```\nacme queue\n```\n",
        "How do I queue parcels in Acme?",
        "acme queue",
    ),
    (
        "the default of",
        "Acme",
        [],
        "The default value of `wait` is 30 seconds.",
        "What is the default of wait in Acme?",
        "is 30 seconds",
    ),
    (
        "you must",
        "Acme",
        [],
        "You must register the depot in the central list.",
        "How do I register the depot in the central list in Acme?",
        "You must register",
    ),
    (
        "it is possible to",
        "Acme",
        [],
        "It is possible to merge routes by using the planner.",
        "How do I merge routes by using the planner in Acme?",
        "It is possible",
    ),
    (
        "the easiest way to",
        "Acme",
        [],
        "The easiest way to merge routes is the planner.",
        "What is the easiest way to merge routes in Acme?",
        "is the planner",
    ),
    (
        "required",
        "Acme",
        [],
        "The depot name is required.",
        "Is the depot name required in Acme?",
        "is required",
    ),
    (
        "used to",
        "Acme",
        [],
        "A manifest is used to describe the parcels.",
        "What is a manifest used for in Acme?",
        "A manifest is used",
    ),
    (
        "lets you",
        "Acme",
        [],
        "The planner lets you combine two routes.",
        "How can I combine two routes in Acme?",
        "lets you combine",
    ),
    (
        "a recommended way",
        "Acme",
        [],
        "The planner is the recommended way to combine two routes.",
        "What is the recommended way to combine two routes in Acme?",
        "recommended way",
    ),
    (
        "stored somewhere",
        "Acme",
        [],
        "The manifest is stored in the cellar.",
        "Where is the manifest stored in Acme?",
        "stored in the cellar",
    ),
    (
        "defined by",
        "Acme",
        [],
        "Routes are declared using the `route` keyword.",
        "How do I declare routes in Acme?",
        "Routes are declared",
    ),
    (
        "a pronoun behind the page's subject",
        "Routes",
        [],
        "Routes in Acme join two depots. They are declared using the `route` keyword.",
        "How do I declare routes in Acme?",
        "They are declared",
    ),
    (
        "requires",
        "Acme",
        [],
        "The planner requires a paid plan.",
        "What does the planner require in Acme?",
        "a paid plan",
    ),
    (
        "supports",
        "Acme",
        [],
        "The planner supports night routes.",
        "Does the planner support night routes in Acme?",
        "night routes",
    ),
    (
        "cannot",
        "Acme",
        [],
        "The planner cannot remove locked routes.",
        "Can the planner remove locked routes in Acme?",
        "cannot remove",
    ),
    (
        "a definition",
        "Acme",
        [],
        "A depot is a place where parcels rest.",
        "What is a depot in Acme?",
        "A depot is a place",
    ),
    (
        "an option in a list",
        "acme-send",
        [],
        "## Options\n\n- `--force`: overwrite the parcel in place\n",
        "What does the --force option of acme-send do?",
        "overwrite the parcel",
    ),
    (
        "an attribute in a list",
        "Buttons",
        [],
        (
            "Buttons in Acme are lively.\n\n"
            "## Attributes\n\n"
            "- `targetId` (optional): identifier of the target element\n"
        ),
        "What is the targetId attribute used for in buttons in Acme?",
        "identifier of the target",
    ),
    (
        "a row of a table",
        "Parcel form",
        [],
        (
            "## Fields\n\n"
            "| Field | Default | Description |\n|--|--|--|\n"
            "| `size` | 3 | how many boxes there are |\n"
        ),
        "What is the size field used for in Parcel form?",
        "| `size` | 3 |",
    ),
    (
        "a default in a table",
        "Parcel form",
        [],
        (
            "## Fields\n\n"
            "| Field | Default | Description |\n|--|--|--|\n"
            "| `size` | 3 | how many boxes there are |\n"
        ),
        "What is the default of size in Parcel form?",
        "| `size` | 3 |",
    ),
    (
        "a definition list without markup",
        "acme-send(1) Manual Page",
        [],
        "## OPTIONS\n\n-q\n\n--quiet\n\nSuppress all progress messages.\n",
        "What does the --quiet option of acme-send do?",
        "--quiet\n\nSuppress",
    ),
    (
        "what an option does, as a task",
        "acme-send(1) Manual Page",
        [],
        "## OPTIONS\n\n-q\n\n--quiet\n\nSuppress all progress messages.\n",
        "How do I suppress all progress messages with acme-send?",
        "Suppress all progress",
    ),
    (
        "an install command",
        "Setup",
        [],
        "Fetch it:\n\n```sh\n$ npm install --save @acme/core\n```\n",
        "What is the command to install the @acme/core package?",
        "npm install --save @acme/core",
    ),
    (
        "an install command in code spans",
        "Setup",
        [],
        "Fetch it:\n\n`bash`  \n`pip install acme==1.2`\n",
        "How do I install acme?",
        "pip install acme==1.2",
    ),
    (
        "a lead-in with code",
        "Acme",
        [],
        "Run this command to list all depots:\n\n```\nacme ls\n```\n",
        "How do I list all depots in Acme?",
        "acme ls",
    ),
    (
        "a section of a syntax page",
        "Acme Syntax",
        [],
        "# Acme Syntax\n\n## Buttons\n\n```\n[button]\n```\n\nAcme syntax is plain text.",
        "How do I write a button in Acme syntax?",
        "[button]",
    ),
    (
        "a syntax section",
        "Buttons",
        [],
        "Buttons in Acme are lively.\n\n## Syntax\n\n```\n[button]\n```\n",
        "How do I write a button in Acme?",
        "[button]",
    ),
    (
        "exit codes",
        "acme-send",
        [],
        "## Exit status\n\nZero if all parcels were sent.",
        "What exit codes does acme-send return?",
        "Zero if all",
    ),
]


@pytest.mark.parametrize(
    ("title", "path", "text", "question", "evidence"),
    [row[1:] for row in RULES],
    ids=[row[0].replace(" ", "-") for row in RULES],
)
def test_the_rule_asks_its_question_and_quotes_the_answer(title, path, text, question, evidence):
    found = {p.question: p.evidence for p in propose(title, path, text)}
    assert question in found
    assert evidence in found[question]
    assert found[question] in text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\n",
        "# Parcels\n",
        "- [Home](/)\n- [Docs](/docs)\n- [Blog](/blog)\n",
        "## Next steps\n\nRead the [guide to routes](/routes) or the [guide to depots](/depots).\n",
        "[Getting started with the parcels](/a) [All about the depots](/b)",
    ],
)
def test_navigation_and_empty_chunks_give_no_question(text):
    assert propose("Acme", [], text) == []


@pytest.mark.parametrize(
    "text",
    [
        "This can be used to list parcels.",
        "It requires a paid plan.",
        "If this is the case, you should restart the service.",
        "To do so, run the following command.",
        "See above to learn how we do it.",
        "Do not restart the service.",
        "The command saves all parcels.",
        "It then checks if the depot is open.",
        "The list is sorted when used with a filter.",
    ],
)
def test_a_sentence_that_points_elsewhere_gives_no_question(text):
    assert propose("", [], text) == []


def test_a_part_below_a_heading_asks_the_heading_only_if_nothing_else_is_found():
    path = ["Acme", "Parcel states"]
    alone = propose("Acme", path, "Three words rest, wait and travel stand on every label.")
    assert [p.question for p in alone] == ["What are parcel states in Acme?"]
    better = propose("Acme", path, "To cancel a parcel, run `acme cancel`.")
    assert [p.question for p in better] == ["How do I cancel a parcel in Acme?"]


def test_a_chunk_that_repeats_the_heading_of_its_path_does_not_nest_it():
    text = "## Attributes\n\n- `size`: how many boxes the parcel has\n"
    found = [p.question for p in propose("Parcels", ["Parcels", "Attributes"], text)]
    assert "What is the size attribute used for in parcels?" in found


def test_a_full_page_spreads_its_questions_over_the_sections():
    names = ["Sending parcels", "Locking depots", "Merging routes", "Printing labels"]
    body = "\n\n".join(
        f"## {name}\n\nYou can do it with `a`. To open box {i}, run `b`. Use `c` to close box {i}."
        for i, name in enumerate(names)
    )
    found = " ".join(p.question for p in propose("Acme", [], body, limit=4))
    assert all(word in found for word in ("send", "lock", "merge", "print"))


def test_a_heading_inside_a_code_block_is_no_heading():
    text = "## Parcels\n\n```sh\n# Installing the world\nacme go\n```\n\nParcels travel at night."
    assert not any("world" in p.question for p in propose("Acme", [], text))


def test_the_same_input_gives_the_same_proposals():
    text = INTRO + "## Options\n\n- `--a`: adds one item\n- `--b`: removes one item\n"
    assert propose("Acme", [], text) == propose("Acme", [], text)


_FRAGMENTS = st.sampled_from(
    [
        "# Parcels\n\n",
        "## Installing the CLI\n\n",
        "### Options\n\n",
        "To X, run `y`. ",
        "you can ",
        "If you stop the service, parcels wait. ",
        "- `--force`: overwrite the parcel\n",
        "> quoted ",
        "| a | b |\n|---|---|\n| `c` | what it is for |\n",
        "```sh\nnpm install acme\n```\n",
        "\n\n",
        "\r\n",
        "`",
        "**bold**: ",
        "[link](/x) ",
        "<b>",
        "<name>",
        "1. ",
        "?",
        "é\u0301",
        "\u2028",
        "\ud800",
        "\x00",
        "\U000f0001",
        "The timeout defaults to 30 seconds. ",
        "    indented\n",
        "\\",
    ]
)
_TEXTS = st.one_of(st.text(max_size=300), st.lists(_FRAGMENTS, max_size=25).map("".join))


@settings(max_examples=150, deadline=None)
@given(title=_TEXTS, path=st.lists(st.text(max_size=30), max_size=3), text=_TEXTS,
       limit=st.integers(min_value=0, max_value=9))  # fmt: skip
def test_every_proposal_is_a_question_with_verbatim_evidence(title, path, text, limit):
    found = propose(title, path, text, limit)
    assert len(found) <= limit
    assert len({p.question.casefold() for p in found}) == len(found)
    for proposal in found:
        assert proposal.evidence
        assert proposal.evidence in text
        assert re.fullmatch(r"[^\W\d_].*[^\s?]\?", proposal.question)
        assert proposal.question[0] == proposal.question[0].upper()


@pytest.mark.parametrize(
    "unit", ["[", "`", "> ", "a ", "![", "To x, y. ", "| a ", "- b\n", "# c\n"]
)
def test_a_huge_hostile_text_is_survived(unit):
    assert len(propose("Acme", [], unit * 200_000)) <= 8
