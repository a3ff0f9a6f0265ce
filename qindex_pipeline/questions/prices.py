"""What tokens cost. List prices in US dollars a million tokens, as of 2025-10."""

PRICES: dict[str, tuple[float, float]] = {
    "anthropic:claude-haiku-4-5-20251001": (1.0, 5.0),
}
"""(prompt, answer) by model. A model that is not here has an unknown price, not a price of 0."""


def cost_usd(spec: str, tokens_in: int, tokens_out: int) -> float | None:
    """The price of tokens; 0 for what runs on one's own machine, None when it is not known."""
    if spec == "rules" or spec.startswith("ollama:") or tokens_in + tokens_out == 0:
        return 0.0
    if spec not in PRICES:
        return None
    price_in, price_out = PRICES[spec]
    return (tokens_in * price_in + tokens_out * price_out) / 1_000_000
