"""Reading back: records by any of their names, with their texts from the store."""

from collections.abc import Mapping, Sequence

from condense_grpc.domain.arguments import captured_arguments
from condense_grpc.domain.batches import Record
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message, calls_of, has_other_parts, text_of
from condense_grpc.domain.recovery import QueryAnswer, RecordBody, answer, requested_records
from condense_grpc.domain.slices import PatternSlice, Slice
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.codec import decode_message
from condense_grpc.engine.patterns import LinePattern
from condense_grpc.engine.state import SessionState

_LARGE_CHARS = 256 * 1024


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


@frozen
class Question:
    """A recovery query with everything that its answer needs; nothing of it changes any more."""

    refs: Sequence[str]
    slices: Sequence[Slice]
    named: Mapping[str, list[Record]]
    bodies: Mapping[str, RecordBody]

    def records(self, name: str) -> list[Record]:
        """The records of one of the refs."""
        return self.named[name]

    @property
    def is_large(self) -> bool:
        """Whether an answer takes so long that nothing else should wait for it."""
        return sum(len(body.text) for body in self.bodies.values()) > _LARGE_CHARS

    def answer(self, patterns: Mapping[str, LinePattern]) -> QueryAnswer:
        """The answer; `patterns` by the expressions of the slices."""
        return answer(
            self.refs,
            self.slices,
            self,
            lambda record: self.bodies[record.key],
            matcher_of=lambda expression: patterns[expression].matches,
        )


async def ask(bodies: BodyCache, state: SessionState, refs: Sequence[str], slices: Sequence[Slice]) -> Question:
    """Fetch what the answer to a query needs. Unknown names are answered, not refused."""
    index = state.decisions.index
    named = {ref: index.records(ref) for ref in refs}
    return Question(refs, slices, named, await record_bodies(bodies, state, requested_records(index, refs)))


def patterns_of(slices: Sequence[Slice]) -> dict[str, LinePattern]:
    """The expressions of slices, read. Raises PatternInvalid."""
    return {
        one.selection.pattern: LinePattern(one.selection.pattern, f"slices[{number}].pattern.pattern")
        for number, one in enumerate(slices)
        if isinstance(one.selection, PatternSlice) and one.selection.regex
    }
