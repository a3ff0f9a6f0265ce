"""Why a page that is in the collection won or lost, in one or two sentences.

Everything is read from a contest of two chunks; nothing is looked up here.
"""

from collections.abc import Callable, Mapping

from qindex_pipeline.explaining.model.explanation import Threshold
from qindex_pipeline.explaining.model.facts import Verdict, VerdictKind
from qindex_pipeline.explaining.verdicts.advice import advice
from qindex_pipeline.explaining.verdicts.contest import Contest, Side, deciding_leg
from qindex_pipeline.explaining.verdicts.wording import (
    at_rank,
    counted,
    listed,
    named,
    on_leg,
    quoted,
    rejections,
    words,
)
from qindex_pipeline.retrieval.legs import LEG_LIMIT, LEGS, Leg


def verdict(contest: Contest, threshold: Threshold) -> Verdict:
    """The verdict on a page that has a chunk in the collection.

    Args:
        contest: The page's best chunk against the winner.
        threshold: What a result of the page's site needs.
    """
    if contest.is_shown:
        return _of_shown(contest, threshold)
    assert contest.winner is not None, "what is not shown has something before it"
    kind, leg = _lost_by(contest, contest.winner)
    text = _TEXTS[kind](contest, contest.winner, leg)
    return Verdict(kind, leg, f"{text}{_missing(contest, kind)}", advice(contest))


def _of_shown(contest: Contest, threshold: Threshold) -> Verdict:
    rank, confidence = contest.own.standing.fused_rank, contest.own.standing.confidence
    assert confidence is not None, "what has a rank has a confidence"
    if confidence < threshold.value:
        text = (
            f"It is at rank {rank}, but its confidence {confidence:.2f} is below the threshold "
            f"{threshold.value:.2f} ({threshold.detail})."
        )
        return Verdict("below_threshold", None, text, advice(contest))
    if rank == 1 or contest.winner is None:
        return Verdict("won", None, f"It won, with confidence {confidence:.2f}.")
    leg = deciding_leg(contest.own.standing, contest.winner.standing)
    text = (
        f"It is shown, as result {rank}; the winner is ahead {_by(contest, contest.winner, leg)}."
    )
    return Verdict("shown", leg, text, advice(contest))


def _lost_by(contest: Contest, winner: Side) -> tuple[VerdictKind, Leg]:
    leg = deciding_leg(contest.own.standing, winner.standing)
    if contest.is_filtered:
        return "filter", "question"
    if contest.own.standing.fused_rank is None:
        return "not_returned", leg
    if contest.carried:
        return "fusion", leg
    if leg == "question" and contest.own.question is None:
        return "no_question", leg
    return leg, leg


def _by(contest: Contest, winner: Side, leg: Leg) -> str:
    """What puts the winner ahead on a leg."""
    own = contest.own
    if leg == "passage":
        nearest = max(own.cosine("passage"), own.cosine("question"))
        return f"by its text ({winner.cosine(leg):.2f}, against {nearest:.2f} here)"
    if leg == "question":
        nearest = max(own.cosine("passage"), own.cosine("question"))
        asked = quoted(winner.question or "")
        return f"by its question {asked} ({winner.cosine(leg):.2f}, against {nearest:.2f} here)"
    if contest.decisive:
        return f"on BM25, by {words(contest.decisive)}"
    return "on BM25, with the same words more often or in a shorter text"


def _dense(contest: Contest, winner: Side, leg: Leg) -> str:
    """Why neither the text nor a question of the page's best chunk is near enough."""
    own = contest.own
    theirs = "text" if leg == "passage" else f"question {quoted(winner.question or '')}"
    if own.question is not None:
        asked = f"whose nearest question, {quoted(own.question)}, has {on_leg(own, 'question')}"
    else:
        why = rejections(contest.questions) or "none was proposed"
        asked = f"which has no accepted question ({why})"
    return (
        f"The {leg} leg lost it: the winner's {theirs} is nearer (cosine {winner.cosine(leg):.2f}) "
        f"than {named(own.section)}, whose text has {on_leg(own, 'passage')} and {asked}."
        f"{_other_question(contest)}{_rejected_question(contest)}"
    )


def _other_question(contest: Contest) -> str:
    """The page's nearest question, where another section has it."""
    nearest = contest.best.get("question")
    if nearest is None or nearest.section == contest.own.section:
        return ""
    where = f"{quoted(nearest.question or '')} of {named(nearest.section)}"
    return f" The page's nearest question, {where}, has {on_leg(nearest, 'question')}."


def _rejected_question(contest: Contest) -> str:
    """What the page's rejected questions would have changed, where one would have."""
    if contest.rejected is None:
        return ""
    asked = contest.rejected[1]
    return (
        f" The rejected {quoted(asked.question)} ({listed(asked.objections)}) would have "
        f"{asked.cosine or 0:.2f} and put it at rank {asked.fused_rank}."
    )


def _filter(contest: Contest, _winner: Side, _leg: Leg) -> str:
    assert contest.rejected is not None, "a filter lost it"
    section, asked = contest.rejected
    return (
        f"A filter lost it: the question {quoted(asked.question)} of {named(section)} was rejected "
        f"({listed(asked.objections)}); accepted, it would have cosine {asked.cosine or 0:.2f} "
        f"and make the page result {asked.fused_rank}."
    )


def _bm25(contest: Contest, winner: Side, leg: Leg) -> str:
    own = contest.own
    place = at_rank(own.standing.legs["bm25"])
    return (
        f"BM25 lost it: the winner is ahead {_by(contest, winner, leg)}, and {named(own.section)} "
        f"is at {place} there."
    )


def _fusion(contest: Contest, winner: Side, leg: Leg) -> str:
    own, carried = contest.own, contest.carried
    ranks = [
        f"{_LEG_NAMES[name]} has {named(side.section)} at {at_rank(side.standing.legs[name])}"
        for name, side in carried.items()
    ]
    one = "that alone" if len(ranks) == 1 else "each alone"
    is_split = any(side.section != own.section for side in carried.values())
    which = f" {named(own.section)} is its best and" if is_split else " it is"
    dense, bm25 = contest.ahead
    return (
        f"The fusion lost it: {listed(ranks)}, and {one} would have shown it; fused,{which} at "
        f"rank {own.standing.fused_rank}, since {counted(dense, 'candidate')} a nearer text or "
        f"question and {counted(bm25, 'candidate')} more weight on BM25. "
        f"The winner is ahead {_by(contest, winner, leg)}."
    )


def _not_returned(contest: Contest, winner: Side, leg: Leg) -> str:
    ranks = [
        f"{_LEG_NAMES[name]} has {named(side.section)} at {at_rank(side.standing.legs[name])}"
        for name in LEGS
        if (side := contest.best.get(name)) is not None
    ]
    return (
        f"No leg returned it, as each returns {LEG_LIMIT} points: {listed(ranks)}. "
        f"The winner is ahead {_by(contest, winner, leg)}."
    )


def _missing(contest: Contest, kind: VerdictKind) -> str:
    if not contest.missing or (kind == "bm25" and contest.decisive):
        return ""
    stand = "stands" if len(contest.missing) == 1 else "stand"
    where = named(contest.own.section)
    return f" Of the question's words, {words(contest.missing)} {stand} nowhere in {where}."


_LEG_NAMES: Mapping[Leg, str] = {
    "passage": "the passage leg",
    "question": "the question leg",
    "bm25": "BM25",
}

_TEXTS: Mapping[str, Callable[[Contest, Side, Leg], str]] = {
    "passage": _dense,
    "question": _dense,
    "no_question": _dense,
    "filter": _filter,
    "bm25": _bm25,
    "fusion": _fusion,
    "not_returned": _not_returned,
}
