"""Native elements as messages, and stored messages as they were."""

from collections.abc import Sequence
from dataclasses import replace

from condense_grpc.domain.messages import ASSISTANT, Message
from condense_grpc.domain.skeleton import NativeSpan
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.identity import key_of, style_of
from condense_grpc.native.json_read import RawElement, read_value
from condense_grpc.native.open_calls import OpenCalls
from condense_grpc.native.shapes import shape_of
from condense_grpc.native.unit import NativeBody, NativeMessage


def read_messages(
    format_: NativeFormat, elements: Sequence[RawElement], first_index: int, calls: OpenCalls
) -> list[NativeMessage]:
    """The messages that elements are.

    `first_index`: how many elements come before them, the last of which does not belong to the same message; `calls`:
    the calls that these have left open.
    """
    shape = shape_of(format_)
    found: list[NativeMessage] = []
    position, fragment, style = 0, 0, 0
    for unit in shape.units(elements):
        fragment = fragment + 1 if unit.is_fragment and not unit.opens_element else 0
        count = 0 if fragment else 1 if unit.is_fragment else len(unit.texts)
        message = shape.message(unit.values, is_fragment=unit.is_fragment)
        facts = shape.facts(message, first_index + position - (1 if fragment else 0), calls)
        message = facts.told(message)
        is_answer = message.role is ASSISTANT
        awaits, resumes = shape.late_tools(unit.values) if is_answer else (False, facts.is_opaque)
        calls.see(message, awaits=awaits)
        taken = elements[position : position + count]
        if taken:
            style = style_of("".join(element.text for element in taken))
        span = NativeSpan(
            format=format_.number,
            elements=count,
            parts=len(unit.values) if unit.is_fragment else None,
            style=style,
            marks=sum(shape.cache_marks(element.value) for element in taken),
            awaits=awaits,
            resumes=resumes,
        )
        found.append(
            NativeMessage(
                message,
                NativeBody(format_, unit.texts, unit.is_fragment, facts),
                tuple(key_of(shape, element) for element in taken) or (b"+%d" % fragment,),
                span,
            )
        )
        position += count
    return found


def message_of(body: NativeBody) -> Message:
    """The message of a stored body, without its time unless the shape has one."""
    shape = shape_of(body.format)
    texts = [f"[{body.texts[1]}]"] if body.is_fragment else body.texts
    values = [read_value(text) for text in texts]
    if body.is_fragment:
        [values] = values
    message = body.facts.told(shape.message(values, is_fragment=body.is_fragment))
    return replace(message, source_json=body.source) if body.format is NativeFormat.PI else message
