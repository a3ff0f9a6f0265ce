"""Generator `rules`: candidate questions from headings and sentence patterns, without a model.

`reader` turns a chunk's markdown into the sections of `markup`; `page`, `english`, `clauses` and
`phrasing` know names, word forms and what a good question looks like; `headings`, `sentences`,
`term_questions` and `code` hold one family of rules each; `choose` picks the best few.
"""

from qindex_pipeline.questions.generators.rule_set.generator import RULES_VERSION, propose

__all__ = ["RULES_VERSION", "propose"]
