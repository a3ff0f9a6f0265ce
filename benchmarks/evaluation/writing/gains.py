"""The page's parts about retrieval: what questions add, and to which queries."""

from collections.abc import Iterator, Mapping, Sequence

from evaluation.results import Results, Rows
from evaluation.writing.words import (
    SETS,
    by_set,
    each_gained,
    figure,
    gained,
    listed,
    named,
    sentence,
    signed,
    table,
    told,
)
from qindex_pipeline.retrieval.evaluation.measures import Interval

KINDS: Mapping[tuple[str, str], str] = {
    ("style", "natural"): "asked in a sentence",
    ("style", "keyword"): "a title without a question",
    ("evidence", "command-in-answer"): "labelled by a command in an answer",
    ("evidence", "linked"): "labelled by a link in an answer",
}
"""Fields of git's labels, and their values, in words."""

ALL_WORDS, SOME_WORDS = "all its words in one right chunk", "a word in no such chunk"

LEAST = 10
"""Questions of a group that is shown."""


def gain_parts(results: Results) -> Iterator[tuple[str, str]]:
    """Name and text of each part of the page that this module makes."""
    yield "added", _added(results)
    yield "added_told", _added_told(results)
    yield "added_otherwise", _added_otherwise(results)
    yield "parts", _parts(results)
    yield "kinds", _kinds(results)
    yield "kinds_told", _kinds_told(results)
    yield "typed", each_gained(by_set(results.main_gains("fused", "fused, as typed")))


def groups(results: Results) -> Iterator[tuple[str, str, Rows]]:
    """Set, name and rows of every group of questions that is large enough to be shown."""
    found: list[tuple[str, str, Rows]] = []
    for name, figures in results.sets.items():
        shares = figures["words_in_one_chunk"]
        every = [row for row, share in enumerate(shares) if share == 1]
        some = [row for row, share in enumerate(shares) if share is not None and share < 1]
        found += [(name, ALL_WORDS, every), (name, SOME_WORDS, some)]
        for (field, kind), words in KINDS.items():
            kinds = figures.get("kinds", {}).get(field, [])
            found.append((name, words, [row for row, each in enumerate(kinds) if each == kind]))
    return (group for group in found if len(group[2]) >= LEAST)


def _added(results: Results) -> str:
    words = results.main_gains("no question leg", "no questions")
    leg = results.main_gains("fused", "no question leg")
    return table(
        ("", "questions", "without", "with", "gain", "by words in BM25", "by the question leg"),
        [
            (
                named(name, measure),
                str(results.sets[name]["questions"]),
                *(
                    figure(results.level(name, arm)[measure].difference)
                    for arm in ("no questions", "fused")
                ),
                gained(gain),
                gained(words[name, measure]),
                gained(leg[name, measure]),
            )
            for (name, measure), gain in results.main_gains("fused", "no questions").items()
        ],
    )


def _added_told(results: Results) -> str:
    gains = by_set(results.main_gains("fused", "no questions"))
    words = told(gains, "the questions help on", "they hurt on", "no difference shows on")
    widths = listed(f"{figure(_half(gain))} on {name}" for name, gain in gains.items())
    return (
        f"{sentence(words)} A gain shows when it is larger than about half the width of its "
        f"interval, which is {widths}; a smaller one may be there unseen."
    )


def _half(gain: Interval) -> float:
    return (gain.high - gain.low) / 2


def _added_otherwise(results: Results) -> str:
    """The measures that sentences are not about, where they show a difference."""
    seen = {
        f"{measure} of {SETS[name]}": gain
        for name in results.sets
        for measure, gain in results.gain(name, "fused", "no questions").items()
        if measure not in results.main(name) and gain.is_significant
    }
    if not seen:
        return "None of the other measures shows a difference."
    changes = listed(f"{name} by {gained(gain)}" for name, gain in seen.items())
    return f"Of the other measures these change: {changes}."


def _parts(results: Results) -> str:
    text = results.main_gains("no questions", "passage")
    questions = results.main_gains("fused", "no questions")
    return table(
        ("", "fused minus passages", "of it BM25 on the text", "of it the questions"),
        [
            (named(*key), gained(gain), gained(text[key]), gained(questions[key]))
            for key, gain in results.main_gains("fused", "passage").items()
        ],
    )


def _kinds(results: Results) -> str:
    rows: list[Sequence[str]] = []
    for name, words, members in groups(results):
        alone = results.main_gain(name, "question", "passage", members)
        for key, gain in results.main_gain(name, "fused", "no questions", members).items():
            title = f"{named(*key)}: {words}"
            rows.append((title, str(len(members)), gained(gain), gained(alone[key])))
    return table(("", "questions", "questions added to fused", "questions minus passages"), rows)


def _kinds_told(results: Results) -> str:
    gains = {
        f"{named(*key)} ({words})": gain
        for name, words, rows in groups(results)
        for key, gain in results.main_gain(name, "fused", "no questions", rows).items()
    }
    seen = {name: gain for name, gain in gains.items() if gain.is_significant}
    found = (
        sentence(told(seen, "added to the fused index they help on", "they hurt on", ""))
        if seen
        else "In none of these groups does adding them show a difference."
    )
    return (
        f"{found} These are {len(gains)} looks at the same questions: of twenty intervals about "
        "one leaves zero out by chance, so a star in one group proves nothing."
    )


def of_bm25(results: Results) -> str:
    """Which part of a gain over passages questions have; nothing where no gain shows."""
    text = results.main_gains("no questions", "passage")
    questions = results.main_gains("fused", "no questions")
    parts = [
        f"on {named(*key)} {signed(gain.difference)}, of which {signed(text[key].difference)} come "
        f"with BM25 and {signed(questions[key].difference)} with questions"
        for key, gain in results.main_gains("fused", "passage").items()
        if gain.low > 0
    ]
    return sentence("; ".join(parts)) if parts else ""
