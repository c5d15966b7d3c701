"""The measures, each a function that returns its row. `rounds` scales how many samples it takes."""

from collections.abc import Callable

from bench.rows import flushes, large, many, residence, turns
from bench.table import Row

ROWS: dict[str, Callable[[int], Row]] = {
    "turn": turns.turn_against_no_op,
    "length": turns.long_against_short,
    "wire": turns.bytes_on_the_wire,
    "after-flush": flushes.first_turn_after_flush,
    "full-send": large.stateless_full_send,
    "flush": flushes.flush_of_fifty,
    "query": large.query_of_a_megabyte,
    "memory": residence.memory_of_an_idle_session,
    "load": residence.loading_a_session,
    "fairness": large.small_turns_beside_large_ones,
    "sessions": many.thousand_sessions,
}
