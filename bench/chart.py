"""The scaling chart: messages of a session against the time of a turn, in the terminal and as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from math import log10
from pathlib import Path
from statistics import median

from bench.ground import Ground
from bench.histories import Shape
from bench.rows.turns import MESSAGE_BYTES, turns_of, warmed
from bench.timing import always, interleaved

LENGTHS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
_SPREAD = 20
_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 40, 48


@dataclass(frozen=True, slots=True)
class Point:
    """One length: median milliseconds of a turn, and of a no-op call in the same rounds."""

    messages: int
    turn_ms: float
    no_op_ms: float


def measure(rounds: int) -> list[Point]:
    """A point for each length. Short sessions come in several copies, so that none grows while it is measured."""
    shape = Shape(MESSAGE_BYTES)
    with Ground() as ground:
        prepares = []
        for messages in LENGTHS:
            first = ground.session(messages, shape)
            copies = [ground.fork(first) for _ in range(_SPREAD - 1)] if messages <= 1_000 else []
            prepares.append(turns_of(cycle([warmed(session) for session in (first, *copies)])))
        *turns, no_op = interleaved(rounds, *prepares, always(ground.no_op))
    no_op_ms = 1000 * median(no_op)
    return [Point(messages, 1000 * median(taken), no_op_ms) for messages, taken in zip(LENGTHS, turns, strict=True)]


def as_text(points: Sequence[Point]) -> str:
    """Bars for the terminal; `|` is where the no-op call ends."""
    highest = max(point.turn_ms for point in points)
    lines = [f"{'messages':>9}  turn"]
    for point in points:
        bar, mark = round(48 * point.turn_ms / highest), round(48 * point.no_op_ms / highest)
        drawn = "".join("|" if column == mark else "█" if column < bar else " " for column in range(50))
        lines.append(f"{point.messages:>9,}  {drawn.rstrip()} {point.turn_ms:.2f} ms")
    lines.append(f"{'no-op':>9}  {points[0].no_op_ms:.2f} ms")
    return "\n".join(lines)


def as_svg(points: Sequence[Point]) -> str:
    """The chart as a picture: a logarithmic axis of messages, a linear one of milliseconds from 0."""
    top_ms = _ceiling(max(point.turn_ms for point in points))
    first, last = log10(points[0].messages), log10(points[-1].messages)

    def x(messages: int) -> float:
        return _LEFT + (log10(messages) - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT)

    def y(milliseconds: float) -> float:
        return _HEIGHT - _BOTTOM - milliseconds / top_ms * (_HEIGHT - _TOP - _BOTTOM)

    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        'font-size="12" fill="#57606a">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="20" font-size="14" fill="#24292f">'
        "Time of a turn over the length of the session (2 KB per message)</text>",
    ]
    for step in range(5):
        level = top_ms * step / 4
        pieces.append(_line(_LEFT, y(level), _WIDTH - _RIGHT, y(level), "#d0d7de"))
        pieces.append(f'<text x="{_LEFT - 6}" y="{y(level) + 4:.1f}" text-anchor="end">{level:.2g} ms</text>')
    for point in points:
        at = x(point.messages)
        pieces.append(f'<text x="{at:.1f}" y="{_HEIGHT - 28}" text-anchor="middle">{point.messages:,}</text>')
    pieces.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 8}" text-anchor="middle">messages in the session</text>')
    for name, color, values in (
        ("no-op call", "#8c959f", [(x(point.messages), y(point.no_op_ms)) for point in points]),
        ("turn", "#0969da", [(x(point.messages), y(point.turn_ms)) for point in points]),
    ):
        path = " ".join(f"{at:.1f},{height:.1f}" for at, height in values)
        pieces.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        pieces += [f'<circle cx="{at:.1f}" cy="{height:.1f}" r="3" fill="{color}"/>' for at, height in values]
        end, height = values[-1]
        pieces.append(f'<text x="{end:.1f}" y="{height - 8:.1f}" text-anchor="end" fill="{color}">{name}</text>')
    return "\n".join([*pieces, "</svg>", ""])


def _line(x1: float, y1: float, x2: float, y2: float, color: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"/>'


def _ceiling(value: float) -> float:
    """The next of 1, 2, 4 and 8 times a power of ten, with some air above the value."""
    power = 10.0 ** (len(str(int(value))) - 1) if value >= 1 else 1.0
    return next((power * step for step in (1, 2, 4, 8) if power * step >= 1.25 * value), 10 * power)


def scaling_chart(rounds: int, path: Path) -> str:
    """Measure, write the picture, and give the chart for the terminal."""
    points = measure(rounds)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(as_svg(points), encoding="utf-8")
    return as_text(points)
