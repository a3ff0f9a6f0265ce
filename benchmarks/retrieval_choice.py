"""Which way to fuse wins on corpora that it was not chosen on."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from measure import print_table
from retrieval_forms import (
    FORMS,
    FURTHER,
    PASSAGE,
    PRODUCT,
    Candidates,
    Form,
    Product,
    candidates,
)
from retrieval_measures import Values, interval_text
from retrieval_sets import Corpus

from qindex_pipeline.retrieval.evaluation.measures import Interval

SHOWN = 12
"""Forms printed, best first."""

Ranking = Form | Product
Tables = Mapping[Ranking, Mapping[str, Values]]


def print_choice(corpora: Sequence[Corpus]) -> dict[str, Any]:
    """Score every form on every corpus, print the held-out choices and the overall order."""
    tables: dict[Ranking, dict[str, Values]] = {form: {} for form in (*FORMS, PRODUCT)}
    for corpus in corpora:
        found = [candidates(hits, corpus.pages) for hits in corpus.found.hits]
        for form, table in tables.items():
            table[corpus.name] = _table(corpus, form, found)
    gains = {form: _gains(corpora, tables, form) for form in tables}
    held_out = _held_out(corpora, tables, gains)
    best = sorted(FORMS, key=lambda form: -mean(gains[form].values()))
    shown: dict[Ranking, None] = dict.fromkeys([PASSAGE, PRODUCT, *best[:SHOWN]])
    header = ("", "mean gain", *(f"{c.name} {name}" for c in corpora for name in _shown(c)))
    rows = [
        (str(form), mean(gains[form].values()), *_figures(corpora, tables, form)) for form in shown
    ]
    print_table("all corpora: MRR as a multiple of the passages', and the measures", header, rows)
    _print_further(corpora, tables, best[0])
    print(f"\nwins overall: {best[0]}")
    return {
        "held_out": held_out,
        "forms": {str(form): gains[form] for form in best},
        "winner": str(best[0]),
    }


def _table(corpus: Corpus, form: Ranking, found: Sequence[Candidates]) -> Values:
    rankings = [
        list(dict.fromkeys(corpus.labels[chunk] for chunk in form.rank(each))) for each in found
    ]
    return corpus.scoring.table(rankings, corpus.right)


def _gains(corpora: Sequence[Corpus], tables: Tables, form: Ranking) -> dict[str, float]:
    """The form's MRR on each corpus as a multiple of the passages'."""

    def mrr(corpus: Corpus, each: Ranking) -> float:
        return corpus.scoring.scores(tables[each][corpus.name])[corpus.scoring.mrr]

    return {corpus.name: mrr(corpus, form) / mrr(corpus, PASSAGE) for corpus in corpora}


def _held_out(
    corpora: Sequence[Corpus], tables: Tables, gains: Mapping[Ranking, Mapping[str, float]]
) -> dict[str, Any]:
    """For each corpus the form that wins on the others, and what it does here."""
    report: dict[str, Any] = {}
    for held in corpora:
        others = [corpus.name for corpus in corpora if corpus is not held]
        if not others:
            continue

        def gain(form: Form, others: Sequence[str] = others) -> float:
            return mean(gains[form][name] for name in others)

        chosen = max(FORMS, key=gain)
        against = {
            name: _minus(held, tables, chosen, other)
            for name, other in (("passages", PASSAGE), ("product", PRODUCT))
        }
        _print_held(held, chosen, held.scoring.scores(tables[chosen][held.name]), against)
        report[held.name] = {"form": str(chosen), "gain": gains[chosen][held.name]}
    return report


def _print_held(
    held: Corpus,
    chosen: Form,
    scores: Mapping[str, float],
    against: Mapping[str, Mapping[str, Interval]],
) -> None:
    rows: list[tuple[object, ...]] = [("its form", *scores.values())]
    for name, intervals in against.items():
        rows.append((f"minus {name}", *map(interval_text, intervals.values())))
    title = f"{held.name} held out; the others choose: {chosen}"
    print_table(title, ("", *scores), rows)


def _print_further(corpora: Sequence[Corpus], tables: Tables, best: Form) -> None:
    """What counting a page's further chunks changes, all else as in the best form."""
    without = Form(best.dense, best.bm25, "no")
    for corpus in corpora:
        rows = [
            (further, *map(interval_text, _minus(corpus, tables, form, without).values()))
            for further in FURTHER
            if (form := Form(best.dense, best.bm25, further)) != without
        ]
        header = ("", *corpus.scoring.measures)
        print_table(f"{corpus.name}: further chunks, minus {without}", header, rows)


def _minus(corpus: Corpus, tables: Tables, form: Ranking, other: Ranking) -> dict[str, Interval]:
    return corpus.scoring.against(tables[form][corpus.name], tables[other][corpus.name])


def _shown(corpus: Corpus) -> list[str]:
    """Measures by which people compare; precision and recall are in F1."""
    return [name for name in corpus.scoring.measures if name not in ("precision", "recall")]


def _figures(corpora: Sequence[Corpus], tables: Tables, form: Ranking) -> list[float]:
    return [
        corpus.scoring.scores(tables[form][corpus.name])[name]
        for corpus in corpora
        for name in _shown(corpus)
    ]
