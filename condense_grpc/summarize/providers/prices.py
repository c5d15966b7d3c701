"""What a reply costs: by the operator's prices, else as the provider says, else by the price list of the library.

An unknown price stays unknown: it is never taken for nothing. The price list comes with the library and is not
fetched.
"""

from collections.abc import Mapping, Sequence
from math import isfinite

from condense_grpc.domain.frozen import frozen
from condense_grpc.settings import SettingsInvalid
from condense_grpc.summarize.providers.names import parse_name


@frozen
class Price:
    """Dollars per million tokens."""

    input_per_million: float
    output_per_million: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Dollars for so many tokens."""
        return (input_tokens * self.input_per_million + output_tokens * self.output_per_million) / 1_000_000


def read_prices(written: Sequence[str]) -> Mapping[tuple[str, str], Price]:
    """The prices of texts such as `openai-chat:my-model=0.15/0.60`, by provider and model id."""
    prices = {}
    for text in written:
        name, _, amounts = text.rpartition("=")
        model = parse_name(name.strip())
        try:
            into, out = (float(amount) for amount in amounts.split("/"))
        except ValueError:
            into, out = -1, -1
        if model is None or not (isfinite(into) and isfinite(out) and into >= 0 and out >= 0):
            raise SettingsInvalid(
                "summarizer_prices: each must be provider:model=input/output in dollars per million tokens, "
                "for example openai-chat:my-model=0.15/0.60"
            )
        prices[model.provider, model.model_id] = Price(into, out)
    return prices
