"""Timing by turns: every round takes one sample of each measure, so that noise of the machine hits all of them."""

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Call = Callable[[], object]
Prepare = Callable[[], Call]
"""Makes the call that is timed; what it does itself is not."""

BLOCKS = 8


def always(call: Call) -> Prepare:
    """A call that needs nothing beforehand."""
    return lambda: call


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection in this process meanwhile."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def interleaved(rounds: int, *prepares: Prepare, warm_up: int = 10) -> list[list[float]]:
    """Seconds of each call in each round, without the first rounds."""
    samples: list[list[float]] = [[] for _ in prepares]
    with quiet():
        for number in range(rounds + warm_up):
            for prepare, taken in zip(prepares, samples, strict=True):
                call = prepare()
                start = time.perf_counter()
                call()
                seconds = time.perf_counter() - start
                if number >= warm_up:
                    taken.append(seconds)
    return samples


def ratio(measured: Sequence[float], yardstick: Sequence[float]) -> float:
    """How many yardsticks a measure is: the median over blocks of rounds of the ratio of medians in a block."""
    size = max(len(measured) // BLOCKS, 1)
    blocks = range(0, len(measured) - size + 1, size)
    return statistics.median(
        statistics.median(measured[start : start + size]) / statistics.median(yardstick[start : start + size])
        for start in blocks
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]
