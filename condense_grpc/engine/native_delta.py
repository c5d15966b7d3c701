"""Deltas as messages: of the contract as they are, in a provider's shape read element by element.

Elements that the transcript has at their place are recognised by their bytes and not read again. Where several
elements are one message, a delta may continue the last message of its base, or begin inside of one; that message is
read again then, with what is new.
"""

import asyncio
from collections.abc import Sequence

from condense_grpc.domain.messages import ASSISTANT
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.engine.arrival import Arrival, native_arrival, typed_arrival
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.codec import decode_native
from condense_grpc.engine.digest import digest_after, etag_of
from condense_grpc.engine.offloading import MANY_MESSAGES, offloaded
from condense_grpc.engine.requests import Delta, NativeElements
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.transcript import Transcript
from condense_grpc.errors import RequestInvalid
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.identity import key_of, style_of
from condense_grpc.native.json_read import RawElement, read_value
from condense_grpc.native.open_calls import OpenCalls
from condense_grpc.native.openai_responses import is_of_model
from condense_grpc.native.reading import read_messages
from condense_grpc.native.shapes import shape_of


def format_of(transcript: Transcript) -> NativeFormat | None:
    """The shape that a transcript is in; None if it is in none, or empty."""
    span = transcript.skeletons[0].native if transcript.skeletons else None
    return None if span is None else NativeFormat.of_number(span.format)


async def read_delta(state: SessionState, delta: Delta, bodies: BodyCache) -> tuple[int, Sequence[Arrival]]:
    """How many messages stay as the base of a delta, and those that follow. Raises TranscriptMismatch."""
    transcript = state.transcript
    wanted = None if delta.native is None else delta.native.format
    if delta.native is None:
        position = transcript.check_base(delta.base_length, delta.base_etag)
        _check_form(transcript, wanted, delta)
        known, messages = delta.known, delta.messages
        if known is not None and transcript.has_digest(position + known.count, known.digest):
            position += known.count
        elif known is not None:
            messages = await asyncio.to_thread(known.whole)
        if len(messages) <= MANY_MESSAGES:
            return position, [typed_arrival(message) for message in messages]
        return position, await offloaded(len(messages), lambda: [typed_arrival(message) for message in messages])
    position, inside = transcript.place_of(max(delta.base_length, 0))
    if delta.base_length < 0 or (inside and position == len(transcript)):
        raise transcript.mismatch(delta.base_length)
    before = await _texts(state, bodies, position) if inside else []
    shape, kept = shape_of(delta.native.format), [_element(text) for text in before[:inside]]
    digest = digest_after(transcript.digest_at(position), [key_of(shape, element) for element in kept])
    if delta.base_etag and delta.base_etag != etag_of(digest):
        raise transcript.mismatch(delta.base_length)
    _check_form(transcript, wanted, delta)
    if not inside and _continues(transcript, position, delta.native):
        position -= 1
        kept = [_element(text) for text in await _texts(state, bodies, position)]
    native = NativeElements(delta.native.format, [*kept, *delta.native.elements])
    return await offloaded(len(native.elements), lambda: _arrivals(transcript, position, native))


def _check_form(transcript: Transcript, wanted: NativeFormat | None, delta: Delta) -> None:
    if delta.base_length and format_of(transcript) != wanted:
        held = format_of(transcript)
        raise RequestInvalid(
            "delta.payload",
            f"is {_named(wanted)}, but the session holds {_named(held)}: send the same form, or everything from base 0",
        )


def _named(form: NativeFormat | None) -> str:
    return "messages of the contract" if form is None else f"native messages ({form.value})"


def _element(text: str) -> RawElement:
    return RawElement(text, read_value(text))


async def _texts(state: SessionState, bodies: BodyCache, position: int) -> list[str]:
    """The elements that one message is."""
    node = state.transcript.nodes[position]
    return [*decode_native((await bodies.encoded(state, [node]))[node]).texts]


def _continues(transcript: Transcript, position: int, native: NativeElements) -> bool:
    """Whether the elements begin with more of the message that ends the base."""
    return (
        native.format is NativeFormat.OPENAI_RESPONSES
        and position > 0
        and bool(native.elements)
        and transcript.skeletons[position - 1].role is ASSISTANT
        and is_of_model(native.elements[0].value)
    )


def _arrivals(transcript: Transcript, position: int, native: NativeElements) -> tuple[int, list[Arrival]]:
    """Pass over what the transcript has at its place, and read the rest."""
    position, known = _skip_known(transcript, position, native)
    elements = native.elements[known:]
    calls = OpenCalls(_latest_turn(transcript, position))
    messages = read_messages(native.format, elements, transcript.elements_before(position), calls)
    return position, [native_arrival(message) for message in messages]


def _skip_known(transcript: Transcript, position: int, native: NativeElements) -> tuple[int, int]:
    """The position behind the messages that are there to the byte, and how many elements these are."""
    shape, elements, known = shape_of(native.format), native.elements, 0
    while position < len(transcript):
        span = transcript.skeletons[position].native
        count = 0 if span is None else span.elements
        taken = elements[known : known + count]
        if span is None or span.format != native.format.number or not count or len(taken) < count:
            break
        digest = digest_after(transcript.digest_at(position), [key_of(shape, element) for element in taken])
        if digest != transcript.digests[position] or style_of("".join(one.text for one in taken)) != span.style:
            break
        rest = NativeElements(native.format, elements[known + count : known + count + 1])
        if _continues(transcript, position + 1, rest):
            break
        known += count
        position += 1
        while position < len(transcript) and _is_rest_of_element(transcript.skeletons[position]):
            position += 1
    return position, known


def _is_rest_of_element(skeleton: MessageSkeleton) -> bool:
    return skeleton.native is not None and not skeleton.native.elements


def _latest_turn(transcript: Transcript, position: int) -> Sequence[MessageSkeleton]:
    """The messages before a position from the latest assistant message on."""
    start = position
    while start > 0:
        start -= 1
        if transcript.skeletons[start].role is ASSISTANT:
            break
    return transcript.skeletons[start:position]
