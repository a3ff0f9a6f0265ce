"""When two questions are the same one."""


def normalize(question: str) -> str:
    """A question's identity: case, spaces and the closing mark do not matter."""
    return " ".join(question.casefold().split()).rstrip("?!. ")
