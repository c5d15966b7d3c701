"""The size of the Pi JSON of plain messages, counted without a value in between."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.json_text import compact, parse_or_text
from condense_grpc.domain.messages import (
    ImagePart,
    Message,
    OpaquePart,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from condense_grpc.domain.pi_json import message_to_pi
from condense_grpc.domain.pi_size import plain_pi_size
from condense_grpc.domain.skeleton import skeleton_of
from condense_grpc.domain.tokens import wide_chars

TEXTS = st.text(max_size=12) | st.sampled_from(["", '"\\\n\x00\u2028', "\ud800", "\u4e2d\u6587", "{}"])
EXTRAS = st.sampled_from(["", "", "", '{"a":1}'])
ARGUMENTS = st.none() | TEXTS | st.sampled_from(['{"path": "a",  "n": 1.10}', "[1e2]", '"text"', '{"content":[]}'])
PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, TEXTS, EXTRAS),
    st.builds(ThinkingPart, TEXTS, st.sampled_from(["", "", "sig"]), st.booleans(), EXTRAS),
    st.builds(ToolCallPart, TEXTS, TEXTS, ARGUMENTS, EXTRAS),
    st.builds(ImagePart, st.just("image/png"), st.just(b"1")),
    st.builds(OpaquePart, TEXTS, st.just("{}")),
)
MESSAGES = st.builds(
    Message,
    st.sampled_from(Role),
    st.lists(PARTS, max_size=4).map(tuple),
    st.none() | st.integers(-9, 9_999_999_999_999),
    tool_call_id=TEXTS,
    tool_name=TEXTS,
    is_error=st.booleans(),
    custom_role=st.sampled_from(["", "", "custom", "system"]),
    extra_json=EXTRAS,
    source_json=st.sampled_from(["", "", "", '{"role":"user","content":[]}']),
)


@given(MESSAGES, st.none() | st.integers(0, 9))
def test_it_is_the_size_of_the_value(message: Message, time_ms: int | None) -> None:
    """Where it says anything at all."""
    given_ms = message.timestamp_ms if time_ms is None else time_ms
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    arguments = [None if part.arguments_json is None else compact(parse_or_text(part.arguments_json)) for part in calls]
    text = compact(message_to_pi(replace(message, timestamp_ms=given_ms)))
    assert plain_pi_size(message, given_ms, arguments) in (None, (len(text), wide_chars(text)))


@given(MESSAGES, st.integers(0, 9))
def test_a_skeleton_measures_the_message_with_the_time_that_it_is_given(message: Message, time_ms: int) -> None:
    """Whether it is plain or not, and without making another message."""
    stamped = replace(message, timestamp_ms=time_ms)
    skeleton = skeleton_of(message, ("path",), time_ms)
    assert skeleton == skeleton_of(stamped, ("path",))
    assert skeleton.json_chars == len(compact(message_to_pi(stamped)))
