"""What made the forms of a question that are searched: a rule, the site's subject, or a model."""

from collections.abc import Iterator, Sequence

from qindex_pipeline.explaining.model.explanation import Form
from qindex_pipeline.retrieval.normalizing.normalize import rule_for
from qindex_pipeline.retrieval.normalizing.subject import with_subject


def explained_forms(forms: Sequence[str], subject: str | None, model: str | None) -> list[Form]:
    """Each form with what made it.

    Args:
        forms: What `search_forms` gave, the question as it was asked first.
        subject: What the site is about, if the index says so.
        model: The model that may rewrite queries; None where rules or nothing does.
    """
    given, *others = forms
    makers = [_makers(given, other, subject, model) for other in others]
    made = [
        Form(other, " and ".join(made_by)) for other, made_by in zip(others, makers, strict=True)
    ]
    return [Form(given, "as it was asked"), *made]


def _makers(given: str, form: str, subject: str | None, model: str | None) -> Iterator[str]:
    named = with_subject(given, subject)
    if named != given:
        yield f"the site's subject, {subject!r}"
    rule = rule_for(named)
    if rule is not None and rule[1] == form:
        yield f"rule {rule[0]!r}"
    elif form != named:
        yield f"model {model}"
