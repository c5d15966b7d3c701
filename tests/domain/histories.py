"""Histories for the tests of the domain: messages in few words, and strategies that draw whole lists of them."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from condense_grpc.domain.messages import Message, Role, TextPart, ThinkingPart, ToolCallPart
from condense_grpc.domain.pairing import keys_of
from condense_grpc.domain.skeleton import MessageSkeleton, skeletons_of

PATHS = ("path",)


def user(timestamp_ms: int | None, text: str = "go") -> Message:
    return Message(Role.USER, (TextPart(text),), timestamp_ms)


def answer(timestamp_ms: int | None, text: str = "done", thinking: str = "") -> Message:
    thought = (ThinkingPart(thinking),) if thinking else ()
    return Message(Role.ASSISTANT, (*thought, TextPart(text)), timestamp_ms)


def calls(timestamp_ms: int | None, *ids: str, tool: str = "bash", arguments: str = '{"n": 1}') -> Message:
    return Message(Role.ASSISTANT, tuple(ToolCallPart(one, tool, arguments) for one in ids), timestamp_ms)


def result(timestamp_ms: int | None, tool_call_id: str, text: str = "out", tool: str = "bash") -> Message:
    return Message(Role.TOOL_RESULT, (TextPart(text),), timestamp_ms, tool_call_id=tool_call_id, tool_name=tool)


def notice(timestamp_ms: int | None) -> Message:
    return Message(Role.CUSTOM, (TextPart("note"),), timestamp_ms, custom_role="custom", custom_type="notice")


def seen(messages: list[Message]) -> tuple[list[MessageSkeleton], list[str]]:
    """Skeletons and keys of a list."""
    skeletons = skeletons_of(messages, PATHS)
    return skeletons, keys_of(skeletons)[0]


_ids = st.sampled_from(["a", "b", "", "a@5"])
_tools = st.sampled_from(["bash", "bash", "keep", "context_tree_query"])
_arguments = st.sampled_from(["{}", '{"path": "x.md"}', "not json"])
_texts = st.sampled_from(["", "out", "x" * 40])
_names = st.lists(_ids, min_size=1, max_size=3)


def _messages(times: st.SearchStrategy[int | None]) -> st.SearchStrategy[Message]:
    return st.one_of(
        st.builds(user, times),
        st.builds(answer, times),
        st.builds(notice, times),
        st.builds(lambda time, names, tool: calls(time, *names, tool=tool), times, _names, _tools),
        st.builds(result, times, _ids, _texts, _tools),
    )


@st.composite
def _chains(draw: st.DrawFn, times: st.SearchStrategy[int | None]) -> list[Message]:
    """A chain as agents make it: turns of calls with most of their results, now and then something in between."""
    messages = [user(draw(times))]
    for names in draw(st.lists(_names, min_size=1, max_size=3)):
        tool = draw(_tools)
        messages.append(calls(draw(times), *names, tool=tool, arguments=draw(_arguments)))
        for name in names:
            between = draw(st.sampled_from(["", "", "", "", "", "notice", "user", "lost", "stray"]))
            messages += [notice(draw(times))] if between == "notice" else []
            messages += [user(draw(times))] if between == "user" else []
            messages += [result(draw(times), draw(_ids))] if between == "stray" else []
            messages += [] if between == "lost" else [result(draw(times), name, draw(_texts), tool)]
    return [*messages, answer(draw(times))]


def _histories(times: st.SearchStrategy[int | None]) -> st.SearchStrategy[list[Message]]:
    pieces = st.lists(st.one_of(_chains(times), _chains(times), st.lists(_messages(times), max_size=4)), max_size=4)
    return pieces.map(lambda lists: [message for one in lists for message in one])


def _stamped(messages: list[Message]) -> list[Message]:
    return [replace(message, timestamp_ms=position) for position, message in enumerate(messages, 1)]


# Times as hosts send them: equal, absent, out of order.
messy_histories = _histories(st.none() | st.integers(1, 4))
# Times as the service keeps them.
stamped_histories = _histories(st.none()).map(_stamped)

_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "user", "text", "a", "toolCall"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "id", "name", "text", "arguments", "input", "thinking"]), inner)
    ),
    max_leaves=8,
)
_roles = st.sampled_from(["user", "assistant", "toolResult", "custom", "odd", None, 7])
_malformed: st.SearchStrategy[Any] = _json | st.fixed_dictionaries(
    {"role": _roles},
    optional=dict.fromkeys(
        ("content", "timestamp", "toolCallId", "toolName", "isError", "customType", "details", "display"), _json
    ),
)
malformed_lists = st.lists(_malformed, max_size=12)
