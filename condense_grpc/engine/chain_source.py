"""A live session as a compression sees it: the messages from its first unfinished chain on, and bodies on demand."""

from condense_grpc.domain.chain_survey import BodiesWanted, ChainSurvey, CompressionInput
from condense_grpc.domain.messages import Message
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import arguments_from, find_pending, source_of
from condense_grpc.engine.codec import decode_message
from condense_grpc.engine.live.front import ChainFront
from condense_grpc.engine.state import SessionState


class ChainSource:
    """Made for one compression, under the session's lock. Its survey has positions from `front.base` on."""

    def __init__(self, state: SessionState, rolling_window: int, now_ms: int, *, waits_for_pending: bool) -> None:
        self._state = state
        self._messages: dict[int, Message] = {}
        self._by_node: dict[int, Message] = {}
        self.front = _front_of(state)
        base, transcript = self.front.base, state.transcript
        waiting = find_pending(state) if waits_for_pending else []
        digests = transcript.digests[base:]
        source = source_of(state)
        self.survey = ChainSurvey(
            CompressionInput(
                messages=transcript.skeletons[base:],
                index=state.decisions.index,
                config=state.config,
                now_ms=now_ms,
                rolling_window=rolling_window,
                message_at=lambda position: self._messages[base + position],
                args_of=arguments_from(self._by_node),
                source_of=lambda call, ordinal, result: source(base + call, ordinal, base + result),
                pending={call.key for batch in waiting for call in batch.calls},
                digest_at=lambda position: digests[position].hex(),
                protection=state.protection,
                keyed=(transcript.keys[base:], transcript.numbers[base:]),
            )
        )

    async def fetch(self, bodies: BodyCache, wanted: BodiesWanted) -> None:
        """Have these bodies at hand."""
        base = self.front.base
        self._messages |= await bodies.messages(self._state, [base + position for position in wanted.positions])
        nodes = {record.source.call_node for record in wanted.records if record.source}
        encoded = await bodies.encoded(self._state, nodes)
        self._by_node |= {node: decode_message(body, 0) for node, body in encoded.items()}


def _front_of(state: SessionState) -> ChainFront:
    """Where the session's chains are unfinished; its begin where that is not known.

    Entries without digests are found by times, and these only in the whole transcript.
    """
    live = state.view.read(state)
    if live is None or not all(entry.start_digest for entry in state.decisions.index.chains):
        return ChainFront()
    return live.front
