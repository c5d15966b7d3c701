"""A page token goes on where it was given out, for the same request and no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.api.condense.v1 import session_pb2, tool_call_pb2
from condense_grpc.errors import PageTokenInvalid
from condense_grpc.server.page_tokens import make_page_token, read_name, read_position

REQUEST = tool_call_pb2.ListToolCallsRequest(session_id="s", summary_id="s1")
SESSIONS = session_pb2.ListSessionsRequest(labels={"a": "1", "b": "2"})


@given(st.integers(0, 2**63 - 1), st.integers(0, 1000))
def test_the_next_page_may_have_another_size(position: int, size: int) -> None:
    token = make_page_token(REQUEST, position)
    later = tool_call_pb2.ListToolCallsRequest(page_size=size, page_token=token)
    later.MergeFrom(REQUEST)
    assert read_position(later, token) == position


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=512))
def test_any_name_can_be_a_position(name: str) -> None:
    assert read_name(SESSIONS, make_page_token(SESSIONS, name)) == name


def test_the_longest_name_fits() -> None:
    name = "\U0001f600" * 512
    assert read_name(SESSIONS, make_page_token(SESSIONS, name)) == name


def test_an_empty_token_is_the_beginning() -> None:
    assert (read_position(REQUEST, ""), read_name(SESSIONS, "")) == (0, "")


@pytest.mark.parametrize("fields", [{"session_id": "other"}, {"summary_id": ""}, {"states": [1]}])
def test_a_token_of_another_request_is_refused(fields) -> None:
    other = tool_call_pb2.ListToolCallsRequest(session_id="s", summary_id="s1")
    for name, value in fields.items():
        other.ClearField(name)
        other.MergeFrom(tool_call_pb2.ListToolCallsRequest(**{name: value}))
    with pytest.raises(PageTokenInvalid):
        read_position(other, make_page_token(REQUEST, 3))


@pytest.mark.parametrize("token", ["x", "=", "AAAA", "é", "A" * 10_000, "\0", " ", "AAAAAAAAAAAAAAAAAAAAAAAA"])
def test_what_was_never_given_out_is_refused(token: str) -> None:
    with pytest.raises(PageTokenInvalid):
        read_position(REQUEST, token)


@given(st.data())
def test_a_changed_token_is_refused(data) -> None:
    token = make_page_token(REQUEST, 12345)
    at = data.draw(st.integers(0, len(token) - 2))
    letter = data.draw(st.sampled_from([c for c in "ABCxyz019-_" if c != token[at]]))
    with pytest.raises(PageTokenInvalid):
        read_position(REQUEST, token[:at] + letter + token[at + 1 :])


@pytest.mark.parametrize("position", ["name", -1, 1.5, True, None, 2**70])
def test_a_forged_position_is_refused(position) -> None:
    with pytest.raises(PageTokenInvalid):
        read_position(REQUEST, make_page_token(REQUEST, position))


def test_a_forged_name_is_refused() -> None:
    for position in (3, "a\0b", ["a"]):
        with pytest.raises(PageTokenInvalid):
            read_name(SESSIONS, make_page_token(SESSIONS, position))  # type: ignore[arg-type]
