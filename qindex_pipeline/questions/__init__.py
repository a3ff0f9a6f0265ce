"""Stages candidate_questions and grounded_questions: the life of a question."""
