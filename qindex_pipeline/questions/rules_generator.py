"""The generator without a model: rules over headings and sentence patterns."""

from qindex_pipeline.questions.generator import Answer, Chunk
from qindex_pipeline.questions.rules import RULES_VERSION, propose


class RulesGenerator:
    """Proposes by the rules of `questions.rules`."""

    spec = "rules"
    prompt_version = RULES_VERSION
    is_paid = False

    def __init__(self, limit: int) -> None:
        """Propose at most `limit` questions a chunk."""
        self._limit = limit

    def generate(self, chunk: Chunk) -> Answer:
        """The rules' questions; deterministic and free."""
        found = propose(chunk["title"], chunk["heading_path"], chunk["text"], self._limit)
        return Answer(tuple(found))
