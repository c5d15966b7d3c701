"""Reading back: records by any of their names, with their texts from the store."""

from collections.abc import Mapping, Sequence

from condense_grpc.domain.arguments import captured_arguments
from condense_grpc.domain.batches import Record
from condense_grpc.domain.messages import Message, calls_of, has_other_parts, text_of
from condense_grpc.domain.recovery import QueryAnswer, RecordBody, answer, requested_records
from condense_grpc.domain.slices import Slice
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.codec import decode_message
from condense_grpc.engine.state import SessionState


async def record_bodies(bodies: BodyCache, state: SessionState, records: Sequence[Record]) -> dict[str, RecordBody]:
    """Text, arguments and parts of records, by key."""
    sources = [record.source for record in records if record.source]
    nodes = {node for source in sources for node in (source.call_node, source.result_node) if node}
    encoded = await bodies.encoded(state, nodes)
    messages = {node: decode_message(body, 0) for node, body in encoded.items()}
    return {record.key: body_of(record, messages) for record in records}


def body_of(record: Record, messages: Mapping[int, Message]) -> RecordBody:
    """Text, arguments and parts of a record; `messages` by node hold those that it names."""
    source = record.source
    if source is None:
        return RecordBody(record.text or "", record.args_json or "{}", record.parts)
    result = messages[source.result_node]
    parts = result.parts if has_other_parts(result) else ()
    if not source.call_node:
        return RecordBody(text_of(result), "{}", parts)
    call = calls_of(messages[source.call_node])[source.call_ordinal]
    return RecordBody(text_of(result), captured_arguments(call), parts)


async def answer_query(
    bodies: BodyCache, state: SessionState, refs: Sequence[str], slices: Sequence[Slice]
) -> QueryAnswer:
    """The answer to a recovery query. Unknown names are answered, not refused."""
    index = state.decisions.index
    found = await record_bodies(bodies, state, requested_records(index, refs))
    return answer(refs, slices, index, lambda record: found[record.key])
