"""The turn of an agent: a call and its result of 2 KB, with nothing newly decided."""

from collections.abc import Iterator
from itertools import cycle
from statistics import median

from bench.ground import BenchSession, Ground
from bench.histories import Shape, turn
from bench.relay import CountingRelay
from bench.table import Row
from bench.timing import Call, Prepare, always, interleaved, ratio

MESSAGE_BYTES = 2048
NUMBERS = iter(range(1, 1 << 30))


def turns_of(sessions: Iterator[BenchSession]) -> Prepare:
    """Turns over these sessions, one after another."""

    def prepare() -> Call:
        session = next(sessions)
        request = session.turn_request(turn(next(NUMBERS)))
        return lambda: session.prune(request)

    return prepare


def warmed(session: BenchSession) -> BenchSession:
    """The session after its first turns: the server has it in memory, the client has its edits."""
    for _ in range(3):
        session.prune(session.turn_request(turn(next(NUMBERS))))
    return session


def turn_against_no_op(rounds: int) -> Row:
    """A warm turn in a session of 10 000 messages and 20 MB."""
    with Ground() as ground:
        session = warmed(ground.session(10_000, Shape.of(10_000, 20_000_000)))
        measured, no_op = interleaved(rounds, turns_of(cycle([session])), always(ground.no_op))
    return Row(
        "turn",
        "warm turn / no-op, 10 000 messages, 20 MB",
        ratio(measured, no_op),
        1.5,
        facts={"turn_ms": 1000 * median(measured), "no_op_ms": 1000 * median(no_op)},
    )


def long_against_short(rounds: int) -> Row:
    """A warm turn at 100 000 messages against one at 100."""
    shape = Shape(MESSAGE_BYTES)
    with Ground() as ground:
        long = warmed(ground.session(100_000, shape))
        first = ground.session(100, shape)
        # Each short session takes few turns, so that it stays short.
        short = [warmed(ground.fork(first)) for _ in range(50)]
        measured, yardstick = interleaved(rounds, turns_of(cycle([long])), turns_of(cycle(short)))
    return Row(
        "length",
        "warm turn at 100 000 messages / at 100",
        ratio(measured, yardstick),
        1.2,
        facts={"long_ms": 1000 * median(measured), "short_ms": 1000 * median(yardstick)},
    )


def bytes_on_the_wire(rounds: int) -> Row:
    """What a warm turn sends and receives, with everything that gRPC adds, as TCP carries it."""
    with Ground() as ground:
        session = warmed(ground.session(2000, Shape(MESSAGE_BYTES)))
        with CountingRelay(ground.address) as relay:
            direct, relayed = ground.condense, relay.condense()
            ground.condense = relayed
            session.prune(session.turn_request(turn(next(NUMBERS))))
            before, delta_bytes, turns = relay.bytes(), 0, max(rounds // 10, 10)
            for _ in range(turns):
                messages = turn(next(NUMBERS))
                delta_bytes += sum(message.ByteSize() for message in messages)
                session.prune(session.turn_request(messages))
            wire_bytes = relay.bytes() - before
            ground.condense = direct
    allowed = 1.3 * delta_bytes + 500 * turns
    return Row(
        "wire",
        "bytes on the wire / (1.3 x delta + 500)",
        wire_bytes / allowed,
        1,
        facts={"wire_bytes": wire_bytes / turns, "delta_bytes": delta_bytes / turns},
    )
