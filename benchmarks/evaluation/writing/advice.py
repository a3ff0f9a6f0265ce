"""The page's summary and its advice: each sentence goes where the figures point."""

from collections.abc import Iterator

from evaluation.results import Results
from evaluation.writing.costs import api_range, rules_price
from evaluation.writing.gains import SOME_WORDS, groups, of_bm25
from evaluation.writing.refusals import asked, foreign_refused, near_gain, refused
from evaluation.writing.words import (
    by_set,
    compared,
    each_gained,
    gained,
    items,
    listed,
    named,
    signed,
    told,
)


def advice_parts(results: Results) -> Iterator[tuple[str, str]]:
    """Name and text of each part of the page that this module makes."""
    yield "short", items(_short(results))
    yield "advice", items(_advice(results))


def _short(results: Results) -> Iterator[str]:
    gains = by_set(results.main_gains("fused", "no questions"))
    words = f"{compared(gains)} ({each_gained(gains)})"
    yield f"**Adding the rules' questions to an index:** {words}."
    text = _pair(results, "Fused search against passages", "fused", "passage")
    yield f"{text} {of_bm25(results)}".rstrip()
    yield _pair(results, "Questions alone against passages", "question", "passage")
    yield _pair(results, "Fused search against LlamaIndex's default", "fused", "LlamaIndex")
    yield _refusal(results)
    yield f"**Questions by rules:** {rules_price(results)}."
    yield (
        f"**Questions by a language model:** {api_range(results)} per 1,000 pages (api profile, "
        "list price, half in a batch). **What they gain is not measured.**"
    )


def _pair(results: Results, name: str, arm: str, other: str) -> str:
    return f"**{name}:** {compared(by_set(results.main_gains(arm, other)))}."


def _refusal(results: Results) -> str:
    own, near = (
        f"{refused(results, 'git', group)} of {asked(results, 'git', group)}"
        for group in ("own", "near")
    )
    found, count = foreign_refused(results, "git")
    return (
        f"**Refused at git's calibrated threshold:** {own} of its own questions, {found} of "
        f"{count} foreign ones, {near} near misses."
    )


def _advice(results: Results) -> Iterator[str]:
    yield _alone(results)
    yield from _level(results)
    yield from _worse(results)
    yield from _missing_words(results)
    yield _near_misses(results)
    yield (
        "**Not a paid model's, on the strength of this page.** It does not say what such questions "
        "gain. Index a part of your site with and without them, ask both what your users ask "
        "(`qindex eval`), and pay for the rest when the interval leaves zero out."
    )
    yield (
        "**Not the rules' for another language than English.** They know no other, and none was "
        "measured."
    )


def _alone(results: Results) -> str:
    gains = by_set(results.main_gains("question", "passage"))
    if any(gain.high < 0 for gain in gains.values()):
        lead = "**Not alone.**"
    elif all(gain.low > 0 for gain in gains.values()):
        lead = "**Alone they did better than passages.**"
    else:
        lead = "**Alone they were nowhere worse that shows, which is no proof.**"
    words = f"{compared(gains)} ({each_gained(gains)})"
    return f"{lead} Questions only against passages only: {words}."


def _level(results: Results) -> Iterator[str]:
    gains = by_set(results.main_gains("fused", "no questions"))
    level = {name: gain for name, gain in gains.items() if not gain.is_significant}
    if level:
        most = listed(f"{signed(gain.high)} on {name}" for name, gain in level.items())
        yield (
            "**Not where passages and BM25 find enough.** No difference by adding questions shows "
            f"on {listed(level)}; the most that the intervals leave open is {most}."
        )


def _worse(results: Results) -> Iterator[str]:
    gains = by_set(results.main_gains("fused", "no questions"))
    worse = {name: gain for name, gain in gains.items() if gain.high < 0}
    if worse:
        yield f"**Not where they cost hits:** {each_gained(worse)}."


def _missing_words(results: Results) -> Iterator[str]:
    """Whether questions help where a user's words don't stand in the docs: their usual promise."""
    gains = {
        named(*key): gain
        for name, words, rows in groups(results)
        if words == SOME_WORDS
        for key, gain in results.main_gain(name, "fused", "no questions", rows).items()
    }
    if not gains:
        return
    if any(gain.low > 0 for gain in gains.values()):
        lead = "**Between a user's words and the docs' they can help.**"
    else:
        lead = "**Not to get from a user's words to the docs', if rules write them.**"
    words = told(gains, "they help on", "they hurt on", "no difference shows on")
    yield (
        f"{lead} Rules reuse the words of the page. Where a word of the question stands in no "
        f"right chunk: {words} ({each_gained(gains)})."
    )


def _near_misses(results: Results) -> str:
    gain = near_gain(results)
    if gain.high < 0:
        lead = "**Not where near misses must be refused.**"
    elif gain.low > 0:
        lead = "**Near misses are no reason against them.**"
    else:
        lead = "**Near misses are undecided.**"
    return (
        f"{lead} With questions in the index the AUROC of git's {asked(results, 'git', 'near')} "
        f"near misses changes by {gained(gain)}."
    )
