"""Who proposes questions: models, rules, people; and what they are asked."""
