"""What the page shows of an answer: the text, its sources, and what was found for the question."""

from collections.abc import Sequence

from qindex_pipeline.retrieval.result import Answer, Citation, Result
from qindex_pipeline.serving.answer_text import answer_nodes, link
from qindex_pipeline.serving.nodes import Element, Node, element


def answer_view(answer: Answer) -> list[Node]:
    """An answer that was written, or refused, with everything that it rests on."""
    sections = [_refusal(answer)] if answer.refused else [_text(answer), _sources(answer.citations)]
    if answer.results:
        sections.append(_found(answer))
    return list(sections)


def failure_view(error: str) -> list[Node]:
    """What is shown when a question could not be answered."""
    return [
        element(
            "section",
            element("h2", "The question could not be answered"),
            element("p", f"Why: {error}"),
            class_="notice failure",
            role="alert",
        )
    ]


def outcome(answer: Answer) -> str:
    """One line that says how it went; read out by screen readers when an answer is complete."""
    seconds = f"{answer.seconds:.1f}" if answer.seconds >= 1 else f"{answer.seconds:.2f}"
    if answer.refused:
        return f"Not answered, in {seconds} s."
    return f"Answered from {_counted(len(answer.citations), 'source')} in {seconds} s."


def _text(answer: Answer) -> Element:
    nodes = answer_nodes(answer.answer or "", answer.citations)
    if answer.reason:
        nodes.append(element("p", f"Note: {answer.reason}.", class_="muted"))
    return _section("Answer", element("div", *nodes, class_="text"), name="answer")


def _refusal(answer: Answer) -> Element:
    return element(
        "section",
        element("h2", "No answer in the documentation"),
        element("p", f"{answer.answer}.", class_="said"),
        element("p", f"Why: {answer.reason}.", class_="muted"),
        element("p", "Try the words that the documentation itself uses.", class_="muted"),
        class_="notice refusal",
    )


def _sources(citations: Sequence[Citation]) -> Element:
    items = [
        element(
            "li",
            link(source.url, source.title),
            element("span", source.url, class_="url"),
        )
        for source in citations
    ]
    return _section("Sources", element("ol", *items), name="sources")


def _found(answer: Answer) -> Element:
    lead = element(
        "p",
        "The passages that came closest, each with the question from the index that led to it. "
        "Only what reaches the threshold of confidence, the mark on its bar, enters an answer.",
        class_="muted",
    )
    items = [_result(result, _limit(answer, result)) for result in answer.results]
    return _section("What was found", lead, element("ol", *items), name="found")


def _limit(answer: Answer, result: Result) -> float | None:
    """The threshold that `result` was held against, where the answer tells it.

    Each site has its own; an answer from all sites names that of its best result.
    """
    named = answer.site or answer.results[0].site
    return answer.threshold if result.site == named else None


def _result(result: Result, limit: float | None) -> Element:
    asked = result.matched_question
    matched = f"“{asked}”" if asked else "Found by its text, not by a question"
    return element(
        "li",
        element("p", matched, class_="matched" if asked else "matched muted"),
        element("p", link(result.citation, result.place), class_="place"),
        _confidence(result, limit),
        element(
            "details",
            element("summary", "Passage"),
            element("p", result.text, class_="passage"),
        ),
    )


def _confidence(result: Result, limit: float | None) -> Element:
    """The confidence in words, in figures, and as a bar with the threshold marked on it."""
    threshold = "its threshold" if limit is None else f"{limit:.2f}"
    verdict = f"✓ reaches {threshold}" if result.confident else f"✕ below {threshold}"
    return element(
        "p",
        _bar(result.confidence, limit),
        element(
            "span",
            "confidence ",
            element("strong", f"{result.confidence:.2f}"),
            " ",
            element("span", verdict, class_="verdict"),
        ),
        class_="confidence passing" if result.confident else "confidence",
    )


def _bar(confidence: float, limit: float | None) -> Element:
    """A picture of what stands beside it in words; drawn by attributes, without a style."""
    parts = [
        element("rect", width="100", height="8", rx="4", class_="track"),
        element("rect", width=_percent(confidence), height="8", rx="4", class_="value"),
    ]
    if limit is not None:
        at = _percent(limit)
        parts.append(element("line", x1=at, x2=at, y1="-3", y2="11", class_="limit"))
    return element(
        "svg", *parts, viewBox="0 -3 100 14", width="100", height="14", aria_hidden="true"
    )


def _percent(cosine: float) -> str:
    return f"{100 * min(max(cosine, 0.0), 1.0):.0f}"


def _section(title: str, *children: Node, name: str) -> Element:
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, *children, class_=name, aria_labelledby=f"{name}-title")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
