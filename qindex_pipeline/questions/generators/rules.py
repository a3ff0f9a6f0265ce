"""The generator without a model: rules over headings and sentence patterns."""

from qindex_pipeline.questions.generators.generator import Answer, Batches, Task, Usage
from qindex_pipeline.questions.generators.rule_set import RULES_VERSION, propose


class RulesGenerator:
    """Proposes by the rules of `questions.rules`."""

    spec = "rules"
    prompt_version = RULES_VERSION
    is_paid = False

    def __init__(self, limit: int) -> None:
        """Propose at most `limit` questions a chunk."""
        self._limit = limit

    @property
    def batches(self) -> Batches | None:
        """None: nothing is handed over."""
        return None

    def estimate(self, task: Task) -> Usage:  # noqa: ARG002 - of the protocol
        """Nothing: rules cost nothing."""
        return Usage()

    def generate(self, task: Task) -> Answer:
        """The rules' questions; deterministic and free."""
        chunk = task.chunk
        found = propose(chunk["title"], chunk["heading_path"], chunk["text"], self._limit)
        return Answer(tuple(found))
