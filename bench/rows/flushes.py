"""Flushes of fifty calls, and the turn behind them."""

from collections.abc import Iterator
from statistics import median

from google.protobuf.field_mask_pb2 import FieldMask

from bench.ground import BenchSession, Ground
from bench.histories import Shape, answer, turn, user
from bench.rows.turns import NUMBERS
from bench.table import Row
from bench.timing import Call, Prepare, always, interleaved, ratio
from condense_grpc.api.condense.v1.config_pb2 import BATCHING_MODE_TURN, SessionConfig
from condense_grpc.api.condense.v1.message_pb2 import Message
from condense_grpc.api.condense.v1.session_pb2 import UpdateSessionRequest
from condense_grpc.api.condense.v1.view_pb2 import VIEW_NONE

CALLS = 50


def chain() -> Iterator[Message]:
    """A chain of fifty calls, each in a message of its own, closed by an answer."""
    yield user("Go on.")
    for _ in range(CALLS):
        yield from turn(next(NUMBERS))
    yield answer("Done.")


def working_session(ground: Ground) -> BenchSession:
    """A long session in which each assistant message is a batch of its own, as it is by default."""
    session = ground.session(10_000, Shape.of(10_000, 20_000_000))
    ground.sessions.UpdateSession(
        UpdateSessionRequest(
            session_id=session.name,
            config=SessionConfig(batching_mode=BATCHING_MODE_TURN),
            update_mask=FieldMask(paths=["config.batching_mode"]),
        )
    )
    return session


def first_turn_after_flush(rounds: int) -> Row:
    """The turn that brings what a flush of fifty calls has decided."""
    with Ground() as ground:
        session = working_session(ground)

        def prepare() -> Call:
            session.prune(session.turn_request(chain()))
            session.flush()
            request = session.turn_request(turn(next(NUMBERS)))
            return lambda: session.prune(request)

        measured, no_op = interleaved(max(rounds // 10, 8), prepare, always(ground.no_op), warm_up=2)
    return Row(
        "after-flush",
        "first turn after a flush of 50 calls / no-op, 10 000 messages",
        ratio(measured, no_op),
        10,
        facts={"turn_ms": 1000 * median(measured), "no_op_ms": 1000 * median(no_op)},
    )


def flush_of_fifty(rounds: int) -> Row:
    """The flush itself, from the request to its last event; summarizing takes no time.

    Beside it the same calls as one batch: what is left without the work and the events for each batch.
    """
    with Ground() as ground:
        session, grouping = working_session(ground), ground.session(10_000, Shape.of(10_000, 20_000_000), seed=2)
        count = max(rounds // 10, 8)
        timed = (_flushes(session), _flushes(grouping), always(ground.no_op))
        measured, as_one, no_op = interleaved(count, *timed, warm_up=2)
    return Row(
        "flush",
        "flush of 50 calls with an instant summarizer, 10 000 messages",
        1000 * median(measured),
        10,
        unit="ms",
        facts={"as_one_batch_ms": 1000 * median(as_one), "no_op_ms": 1000 * median(no_op)},
    )


def _flushes(session: BenchSession) -> Prepare:
    """Flushes of fifty new calls each."""

    def prepare() -> Call:
        session.prune(session.turn_request(chain(), VIEW_NONE))
        return session.flush

    return prepare
