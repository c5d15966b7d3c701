"""What the use cases share."""

from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.background import Background
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.ports import Clock, Store, Summarizer
from condense_grpc.engine.registry import Registry


@frozen
class Tools:
    """The parts of one engine, owned by it. `concurrency`: summaries at a time per flush.

    `background` is the summarizer once more if it works ahead.
    """

    store: Store
    registry: Registry
    bodies: BodyCache
    summarizer: Summarizer
    clock: Clock
    concurrency: int = 4
    background: Background | None = None
