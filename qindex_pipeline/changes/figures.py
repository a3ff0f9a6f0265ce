"""The figures of a report in words: how many there are, what it cost, how well it answers."""

from collections.abc import Iterator

from qindex_pipeline.changes.pages import Row


def figure_lines(row: Row) -> Iterator[str]:
    """Lines about the whole site: chunks, questions, cost, confidence, evaluation."""
    chunks = f"{counted(row['chunks'], 'chunk')}{_moves(row, 'chunks')}"
    yield f"{counted(row['pages'], 'page')}, {chunks}"
    accepted = f"{counted(row['accepted'], 'question')} accepted{_moves(row, 'accepted')}"
    yield f"{accepted} of {row['proposed']} proposed{_moves(row, 'proposed')}"
    yield _cost(row)
    yield from _confidence(row)
    yield from _evaluation(row)


def _moves(row: Row, name: str) -> str:
    added, removed = row[f"{name}_added"], row[f"{name}_removed"]
    return f" (+{added} −{removed})" if added or removed else ""


def _cost(row: Row) -> str:
    if row["llm_calls"] is None:
        return "cost not known: Dagster has no record of the runs"
    dollars = "unknown price" if row["cost_usd"] is None else f"${row['cost_usd']:.4f}"
    if row["cost_usd"] == 0:
        dollars = "$0"
    tokens = f", {row['tokens_in']} tokens in, {row['tokens_out']} out" if row["llm_calls"] else ""
    runs = f" in {row['runs']} runs" if row["runs"] > 1 else ""
    return f"cost {dollars}: {counted(row['llm_calls'], 'LLM call')}{runs}{tokens}"


def _confidence(row: Row) -> Iterator[str]:
    now, before = row["confidence"], row["confidence_before"]
    if now is None:
        if before is not None:
            yield "no threshold of its own any more: too few accepted questions"
        return
    earlier = ""
    if before is not None and before["fingerprint"] != now["fingerprint"]:
        earlier = f" (another embedder before, {before['threshold']:.2f})"
    elif before is not None and round(before["threshold"], 2) != round(now["threshold"], 2):
        earlier = f" ({before['threshold']:.2f} before)"
    passing = f"{now['false_accept']:.0%} of foreign questions pass"
    refused = f"{now['false_refuse']:.0%} of its own do not"
    yield f"threshold {now['threshold']:.2f}{earlier}: {passing}, {refused}"
    yield f"AUROC of the confidence {now['auroc']:.2f}"


def _evaluation(row: Row) -> Iterator[str]:
    now, before = row["evaluation"], row["evaluation_before"]
    if now is None:
        return
    earlier = ""
    if before is not None and before["questions_hash"] != now["questions_hash"]:
        earlier = ", other questions before"
    elif before is not None and round(before["mrr_at_10"], 2) != round(now["mrr_at_10"], 2):
        earlier = f", {before['mrr_at_10']:.2f} before"
    yield f"evaluation: MRR@10 {now['mrr_at_10']:.2f} on {counted(now['n'], 'question')}{earlier}"


def counted(count: int, name: str) -> str:
    """`1 page`, `2 pages`."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
