"""The defects of a native history that its newest elements have brought, by the rules of its provider."""

from condense_grpc.domain.messages import Role
from condense_grpc.domain.validity import Violation
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.codec import decode_native
from condense_grpc.engine.kept_before import KeptBefore
from condense_grpc.engine.state import SessionState
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_read import read_value
from condense_grpc.native.unit import Json
from condense_grpc.native.validity import find_defects
from condense_grpc.native.validity_turns import Scope


async def native_violations_since(
    state: SessionState, position: int, form: NativeFormat, bodies: BodyCache
) -> list[Violation]:
    """The defects that the messages from a position on brought, to the turn before them too.

    `message_index` counts elements of the client's history.
    """
    transcript = state.transcript
    start = max(position - 1, 0)
    while start > 0 and transcript.skeletons[start].role is not Role.ASSISTANT:
        start -= 1
    before = transcript.elements_before(start)
    earlier = state.native_before = KeptBefore.until(transcript, start, state.native_before)
    scope = Scope(
        is_start=not before,
        ids_before=earlier.ids,
        renames=state.config.rename_repeated_ids,
        marks_before=earlier.marks,
    )
    elements = await _elements(state, start, bodies)
    known = find_defects(form, elements[: transcript.elements_before(position) - before], scope)
    found = [violation for violation in find_defects(form, elements, scope) if violation not in known]
    return [_moved(violation, before) for violation in found]


def _moved(violation: Violation, by: int) -> Violation:
    return Violation(
        violation.kind, violation.message_index + by, violation.tool_call_id, violation.repaired, violation.what
    )


async def _elements(state: SessionState, start: int, bodies: BodyCache) -> list[Json]:
    """The elements of the messages from `start` on, which does not lie within an element."""
    transcript = state.transcript
    encoded = await bodies.encoded(state, transcript.nodes[start:])
    texts: list[str] = []
    for position in range(start, len(transcript)):
        body, span = decode_native(encoded[transcript.nodes[position]]), transcript.skeletons[position].native
        if span is not None and not span.elements:
            texts[-1] += body.source
        else:
            texts += [body.source] if body.is_fragment else body.texts
    return [read_value(text) for text in texts]
