"""The commands that ask the index: ask, eval."""

import json
from pathlib import Path
from typing import Annotated

import typer

from qindex_pipeline.cli.app import SiteOption, app


@app.command()
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    site: SiteOption = None,
    top_k: Annotated[int | None, typer.Option(min=1, max=50, help="Results, at most.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Confidence a result needs.")] = None,
    legs: Annotated[
        str, typer.Option(help="Legs that rank, of passage,question,bm25.")
    ] = "passage,question,bm25",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    no_answer: Annotated[bool, typer.Option("--no-answer", help="Only rank.")] = False,
) -> None:
    """Ask the index; a refusal is an answer too."""
    from contextlib import closing

    from qindex_pipeline.console import print_answer, source_lines
    from qindex_pipeline.query import QIndex
    from qindex_pipeline.retrieval.legs import parse_legs

    chosen = parse_legs(legs.split(","))
    with closing(QIndex.from_env()) as index:
        if as_json or no_answer:
            answer = index.ask(
                question, site, top_k, threshold=threshold, legs=chosen, write_answer=not no_answer
            )
            typer.echo(
                json.dumps(answer.to_json(), ensure_ascii=False)
                if as_json
                else "\n".join(source_lines(answer))
            )
        else:
            print_answer(index.stream(question, site, top_k, threshold=threshold, legs=chosen))
        if context.obj == "verbose":
            typer.echo(index.models.line, err=True)


@app.command("eval")
def evaluate(
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS.jsonl", help="Rows {id, question, page, also}.")
    ],
    site: Annotated[str, typer.Option("--site", help="Key of the site.")],
    unanswerable: Annotated[
        Path | None, typer.Option(help="Rows {id, question} that the docs don't answer.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Ask questions whose pages are known, and count what is found."""
    from qindex_pipeline.retrieval.evaluation.evaluating import evaluate_published
    from qindex_pipeline.retrieval.evaluation.report import report_lines
    from qindex_pipeline.settings import Settings

    found = evaluate_published(Settings.from_env(), site, questions, unanswerable)
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        typer.echo("\n".join(report_lines(found)))
