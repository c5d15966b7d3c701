"""Numbers as people read them, and the one rounding rule behind every estimate, percentage and number of seconds.

Halves go up. Decimals are rounded on the exact binary value of the double, so no decimal library can disagree.
"""

import math


def half_up(value: float) -> int:
    """The nearest whole number, x.5 upwards."""
    return math.floor(value + 0.5)


def token_estimate(chars: int) -> int:
    """Estimated tokens of a text: a quarter of its characters, half-up."""
    return (chars + 2) // 4


def format_compact_count(count: float) -> str:
    """A count with one decimal and `k` or `M` from a thousand upwards; negative ones never get a suffix."""
    if count >= 1_000_000:
        return f"{_fixed(count / 1_000_000, 1)}M"
    if count >= 1000:
        return f"{_fixed(count / 1000, 1)}k"
    return str(int(count) if count == int(count) else count)


def format_cost(dollars: float) -> str:
    """Dollars with three decimals; a smaller positive amount is only said to be smaller."""
    return "<$0.001" if 0 < dollars < 0.001 else f"${_fixed(dollars, 3)}"


def format_char_progress(received_chars: int, raw_chars: int | None = None) -> str:
    """How much of a summary has arrived, and of how much raw text it is made, if that is known."""
    progress = _counted(received_chars, "summary")
    return progress if raw_chars is None else f"{progress} / {_counted(raw_chars, 'raw')}"


def _counted(chars: int, what: str) -> str:
    return f"{format_compact_count(chars)} {what} {'char' if chars == 1 else 'chars'}"


def _fixed(value: float, decimals: int) -> str:
    """A decimal with a fixed number of places, ties away from zero (`format` would send them to the even digit)."""
    if not float(2 * value * 10**decimals).is_integer():
        return f"{value:.{decimals}f}"
    numerator, denominator = abs(value).as_integer_ratio()
    scaled = (2 * numerator * 10**decimals + denominator) // (2 * denominator)
    whole, places = divmod(scaled, 10**decimals)
    return f"{'-' if value < 0 else ''}{whole}.{places:0{decimals}d}"
