"""How the shapes of providers are read, edited, and put together so that the provider takes them."""

import base64
import copy
from typing import Any

import pytest

from condense_grpc.api.condense.v1 import edit_pb2
from condense_grpc.client.adapters import ANTHROPIC, OPENAI, PI
from condense_grpc.client.adapters.anthropic_turns import NOTICE
from condense_grpc.client.arrangement import apply_edits, read_full_view
from condense_grpc.client.draft import Draft
from condense_grpc.client.sent_history import START, SentHistory
from condense_grpc.native import slots
from tests.client.messages import drop, insert, move, purge, strip, stub, summary, user

PNG = base64.b64encode(b"png").decode()


class SdkObject:
    """Stands for the model objects of the providers' SDKs."""

    def __init__(self, **members: Any) -> None:
        self._members = members
        for name, value in members.items():
            setattr(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SdkObject) and other._members == self._members

    def model_dump(self, *, mode: str, exclude_unset: bool) -> dict[str, Any]:
        assert mode == "json" and exclude_unset
        return dict(self._members)


def read(adapter: Any, history: list[Any]) -> list[Any]:
    """The messages that a history is sent as."""
    return list(Draft(adapter, history, SentHistory(), 1 << 20).messages_from(START))


def view(adapter: Any, history: list[Any], edits: list[edit_pb2.Edit]) -> list[Any]:
    """The view of a history; also checks that the history itself stays as it was."""
    before = copy.deepcopy(history)
    counts = Draft(adapter, history, SentHistory(), 1 << 20).piece_counts
    shown = apply_edits(adapter, history, counts, edits)
    assert all(now == then for now, then in zip(history, before, strict=True) if isinstance(now, dict))
    return shown


def openai_history() -> list[Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    other = {"id": "c2", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    return [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call, other]},
        {"role": "tool", "tool_call_id": "c1", "content": "long"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "files"}]},
        {"role": "assistant", "content": "done", "refusal": None},
    ]


def anthropic_history() -> list[Any]:
    calls = [{"type": "tool_use", "id": it, "name": f"tool_{it}", "input": {"n": 1}} for it in ("a", "b")]
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [thinking, *calls]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "long a"},
                {"type": "text", "text": "by the way"},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": [{"type": "text", "text": "b"}],
                    "is_error": True,
                },
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        {"role": "user", "content": "next"},
    ]


def test_openai_messages_are_read() -> None:
    """Calls, results with the names of their tools, thinking, and what the contract has no field for."""
    system, question, calls, first, second, last = read(OPENAI, openai_history())
    assert system.custom.role == "system" and question.user.parts[0].text.text == "go"
    kinds = [part.WhichOneof("kind") for part in calls.assistant.parts]
    assert kinds == ["thinking", "tool_call", "tool_call"]
    assert calls.assistant.parts[1].tool_call.arguments_json == '{"path": "a"}'
    assert calls.assistant.parts[2].tool_call.arguments_json == "ls"
    assert (first.tool_result.tool_name, second.tool_result.tool_name) == ("read", "sh")
    assert second.tool_result.parts[0].text.text == "files"
    assert last.extra_json == '{"refusal":null}' and not first.HasField("timestamp_ms")


def test_tool_names_are_found_from_any_base() -> None:
    """A delta that begins in the middle of a turn says the same as the whole history."""
    for adapter, history in ((OPENAI, openai_history()), (ANTHROPIC, anthropic_history())):
        whole = read(adapter, history)
        draft = Draft(adapter, history, SentHistory(), 1 << 20)
        for objects in range(len(history)):
            base = type(START)(sum(draft.piece_counts[:objects]), "", objects)
            assert list(draft.messages_from(base)) == whole[base.length :]


def test_repeated_ids_take_the_names_in_order() -> None:
    """The n-th result with an id belongs to the n-th call with it."""
    calls = [{"id": "x", "type": "function", "function": {"name": it, "arguments": "{}"}} for it in ("one", "two")]
    results = [{"role": "tool", "tool_call_id": "x", "content": "r"}] * 2
    names = [it.tool_result.tool_name for it in read(OPENAI, [{"role": "assistant", "tool_calls": calls}, *results])]
    assert names == ["", "one", "two"]


def test_openai_edits() -> None:
    """Each edit keeps the shape of what it edits; the rest are the same objects."""
    history = openai_history()
    edits = [purge(2, 0), purge(2, 1), strip(2), stub(3, "S1"), stub(4, "S2"), insert(4, summary("sum")), drop(0)]
    shown = view(OPENAI, history, edits)
    assert shown[0] is history[1] and shown[5] is history[5]
    assert "reasoning_content" not in shown[1]
    assert shown[1]["tool_calls"][0]["function"] == {"name": "read", "arguments": '{"_purged":1}'}
    assert shown[1]["tool_calls"][1]["custom"] == {"name": "sh", "input": '{"_purged":1}'}
    assert shown[2] == {"role": "tool", "tool_call_id": "c1", "content": "S1"}
    assert shown[3] == {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "S2"}]}
    assert shown[4] == {"role": "user", "content": "sum"}


def test_openai_function_calls_of_old() -> None:
    """`function_call` and the role `function` pair by order."""
    history = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "r"},
    ]
    calls, result = read(OPENAI, history)
    assert calls.assistant.parts[0].tool_call.name == "f" and result.tool_result.tool_name == "f"
    shown = view(OPENAI, history, [purge(0), stub(1, "S")])
    assert shown[0]["function_call"]["arguments"] == '{"_purged":1}'
    assert shown[1] == {"role": "function", "name": "f", "content": "S"}


def test_openai_images() -> None:
    """A data address is sent as bytes; an inserted image comes back as one."""
    url = f"data:image/png;base64,{PNG}"
    content = [{"type": "image_url", "image_url": {"url": url, "detail": "low"}}, {"type": "input_audio", "x": 1}]
    (message,) = read(OPENAI, [{"role": "user", "content": content}])
    assert message.user.parts[0].image.data == b"png" and message.user.parts[0].image.media_type == "image/png"
    assert OPENAI.from_message(message, edit_pb2.INSERT_KIND_UNSPECIFIED)["content"] == content


def test_anthropic_messages_are_read_block_by_block() -> None:
    """A user message with results and text is several messages of the transcript."""
    kinds = [it.WhichOneof("kind") for it in read(ANTHROPIC, anthropic_history())]
    assert kinds == ["user", "assistant", "tool_result", "user", "tool_result", "assistant", "user"]
    messages = read(ANTHROPIC, anthropic_history())
    assert messages[1].assistant.parts[0].thinking.signature == "s"
    assert messages[1].assistant.parts[1].tool_call.arguments_json == '{"n":1}'
    assert (messages[2].tool_result.tool_name, messages[4].tool_result.tool_name) == ("tool_a", "tool_b")
    assert messages[4].tool_result.is_error


def test_anthropic_edits_of_one_block() -> None:
    """Only the block changes, and the order of the blocks stays."""
    history = anthropic_history()
    shown = view(ANTHROPIC, history, [stub(4, "S"), purge(1, 1), strip(1)])
    assert [shown[i] is history[i] for i in range(5)] == [True, False, False, True, True]
    assert [block["type"] for block in shown[1]["content"]] == ["tool_use", "tool_use"]
    assert [block["input"] for block in shown[1]["content"]] == [{"n": 1}, {"_purged": 1}]
    assert shown[2]["content"][:2] == history[2]["content"][:2]
    assert shown[2]["content"][2] == {
        "type": "tool_result",
        "tool_use_id": "b",
        "content": [{"type": "text", "text": "S"}],
    }


def test_anthropic_text_between_results_moves_behind_them() -> None:
    """A block moves within its message."""
    shown = view(ANTHROPIC, anthropic_history(), [move(3, 4)])
    assert [block["type"] for block in shown[2]["content"]] == ["tool_result", "tool_result", "text"]


def test_anthropic_inserts_join_the_user_turn_before_them() -> None:
    """Behind the results, as blocks of their own."""
    history = anthropic_history()
    shown = view(ANTHROPIC, history, [move(3, 4), insert(4, summary("one")), insert(4, user("two"))])
    assert len(shown) == 5
    assert [block.get("text") for block in shown[2]["content"]] == [None, None, "by the way", "one", "two"]
    shown = view(ANTHROPIC, history, [insert(0, summary("sum"))])
    assert shown[0]["content"] == [{"type": "text", "text": "go"}, {"type": "text", "text": "sum"}]


def test_anthropic_inserts_join_the_user_turn_behind_them() -> None:
    """Before its text, but never before its results."""
    history = anthropic_history()
    shown = view(ANTHROPIC, history, [insert(5, summary("sum"))])
    assert [block["text"] for block in shown[4]["content"]] == ["sum", "next"]
    results = [history[1], {"role": "user", "content": [history[2]["content"][0], history[2]["content"][1]]}]
    shown = view(ANTHROPIC, results, [insert(0, summary("sum"))])
    assert [block["type"] for block in shown[1]["content"]] == ["tool_result", "text", "text"]
    assert shown[1]["content"][1]["text"] == "sum"


def test_anthropic_inserts_between_assistants_stand_alone() -> None:
    """There is no user turn to join."""
    said = {"role": "assistant", "content": "a"}
    shown = view(ANTHROPIC, [said, said], [insert(0, summary("x")), insert(0, summary("y")), insert(1, summary("z"))])
    assert [it["role"] for it in shown] == ["assistant", "user", "assistant", "user"]
    assert [block["text"] for block in shown[1]["content"]] == ["x", "y"]


def test_anthropic_messages_that_are_partly_dropped() -> None:
    """What remains of a message stays one message; one of which nothing remains is gone."""
    history = anthropic_history()
    shown = view(ANTHROPIC, history, [drop(2), drop(4)])
    assert shown[2] == {"role": "user", "content": [{"type": "text", "text": "by the way"}]}
    shown = view(ANTHROPIC, history, [drop(index) for index in (1, 2, 3, 4)])
    assert shown == [history[0], history[3], history[4]]


def text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_anthropic_keeps_the_place_of_stray_results() -> None:
    """Where nothing else of the user's is beside it, and two answers would meet or nobody would begin."""
    said = {"role": "assistant", "content": "a"}
    uses = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
    stray = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "r"}]}
    asked = {"role": "user", "content": "go"}
    notice = {"type": "text", "text": NOTICE}
    assert NOTICE == slots.NOTICE  # as in views of native histories
    noted = {"role": "user", "content": [notice]}
    assert view(ANTHROPIC, [stray, said], [drop(0)]) == [noted, said]
    assert view(ANTHROPIC, [stray], [drop(0)]) == [noted]
    assert view(ANTHROPIC, [asked, said, stray, said], [drop(2)]) == [asked, said, noted, said]
    assert view(ANTHROPIC, [asked, said, stray, asked], [drop(2)])[2]["content"] == [notice, text_block("go")]
    assert view(ANTHROPIC, [asked, uses, stray, said], [drop(2)]) == [asked, uses, noted, said]
    assert view(ANTHROPIC, [asked, uses, stray], [drop(2)]) == [asked, uses]
    assert view(ANTHROPIC, [asked, uses, stray, asked], [drop(2)]) == [asked, uses, asked]
    assert view(ANTHROPIC, [asked, said, stray], [drop(2), insert(2, summary("s"))])[2]["content"][-1]["text"] == "s"


def test_anthropic_says_nothing_into_a_paused_answer() -> None:
    """What is inserted stands before it."""
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    paused = {"role": "assistant", "content": [search]}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    history = [{"role": "user", "content": "go"}, paused, {"role": "assistant", "content": [found]}]
    shown = view(ANTHROPIC, history, [insert(1, summary("s"))])
    assert shown == [{"role": "user", "content": [text_block("go"), text_block("s")]}, *history[1:]]
    assert view(ANTHROPIC, history[1:], [insert(0, summary("s"))])[0] == {"role": "user", "content": [text_block("s")]}


def test_anthropic_thinking_is_not_stripped_to_nothing() -> None:
    """The API refuses an assistant message without content."""
    history = [{"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]}]
    assert view(ANTHROPIC, history, [strip(0)]) == history
    assert read(ANTHROPIC, history)[0].assistant.parts[0].thinking.redacted


def test_anthropic_cache_marks_are_not_content() -> None:
    """A history in which the mark wanders is the same history, and a stub keeps its mark."""
    plain, marked = anthropic_history(), anthropic_history()
    marked[2]["content"][0]["cache_control"] = {"type": "ephemeral"}
    marked[1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert read(ANTHROPIC, plain) == read(ANTHROPIC, marked)
    assert view(ANTHROPIC, marked, [stub(2, "S")])[2]["content"][0]["cache_control"] == {"type": "ephemeral"}


def test_anthropic_images() -> None:
    """By bytes, by address, and in ways that are carried along."""
    sources = [
        {"type": "base64", "media_type": "image/png", "data": PNG},
        {"type": "url", "url": "https://example.org/a.png"},
        {"type": "file", "file_id": "f1"},
    ]
    content = [{"type": "image", "source": source} for source in sources]
    (message,) = read(ANTHROPIC, [{"role": "user", "content": content}])
    assert [part.WhichOneof("kind") for part in message.user.parts] == ["image", "image", "opaque"]
    assert ANTHROPIC.from_message(message, edit_pb2.INSERT_KIND_UNSPECIFIED) == {"role": "user", "content": content}


def test_objects_of_the_sdks_are_taken_as_they_are() -> None:
    """They are read like the JSON they stand for, come back untouched, and are dicts only where they are edited."""
    block = SdkObject(type="tool_use", id="a", name="read", input={"n": 1})
    said: Any = {"role": "assistant", "content": [block]}
    shown = view(ANTHROPIC, [said, said], [purge(1)])
    assert shown[0] is said and shown[1]["content"][0]["input"] == {"_purged": 1}
    message = SdkObject(role="assistant", content="hello")
    assert read(OPENAI, [message])[0].assistant.parts[0].text.text == "hello"
    assert view(OPENAI, [message], [insert(0, summary("s"))])[0] is message


@pytest.mark.parametrize(
    ("adapter", "history"), [(OPENAI, openai_history()), (ANTHROPIC, anthropic_history())], ids=["openai", "anthropic"]
)
def test_a_full_view_says_what_the_history_said(adapter: Any, history: list[Any]) -> None:
    """Messages that are written anew from the contract read like the originals."""
    for message in read(adapter, history):
        if message.HasField("custom"):
            continue
        (again,) = read(adapter, [adapter.from_message(message, edit_pb2.INSERT_KIND_UNSPECIFIED)])
        if message.HasField("tool_result"):
            again.tool_result.tool_name = message.tool_result.tool_name
        assert again == message


def test_a_full_view_is_put_together_like_edits_are() -> None:
    """Own messages are found again piece by piece."""
    history = anthropic_history()
    sent = read(ANTHROPIC, history)
    counts = Draft(ANTHROPIC, history, SentHistory(), 1 << 20).piece_counts
    shown = read_full_view(ANTHROPIC, history, counts, sent=sent, shown=[*sent[:5], summary("sum"), *sent[5:]])
    assert [shown[i] is history[i] for i in range(5)] == [True, True, False, True, True]
    assert shown[2]["content"][-1]["text"] == "sum"


def test_pi_inserts_are_custom_messages() -> None:
    """A host of Pi shows our summaries as messages of their own kind, with text as content."""
    shown = view(PI, [{"role": "user", "content": "q", "timestamp": 5}], [insert(0, summary("sum"))])
    assert shown[1] == {"role": "custom", "customType": "context-prune-summary", "content": "sum", "display": False}
