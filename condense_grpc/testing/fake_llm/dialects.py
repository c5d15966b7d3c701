"""The wire formats: how each provider frames a streamed answer, and an error, and where a request holds its prompt.

A dialect object belongs to one answer. Its methods give the bytes of the server-sent events, in the order in which
a provider sends them; an answer is `opening`, any number of pieces, `closing`.
"""

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

Stop = Literal["stop", "length", "refusal"]
Json = dict[str, Any]
Tokens = tuple[int, int]


def event(data: Json | str, name: str = "") -> bytes:
    """One server-sent event."""
    body = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return (f"event: {name}\n" if name else "").encode() + f"data: {body}\n\n".encode()


class Dialect(ABC):
    """One answer in one provider's format. `finished`: the last event of it was made."""

    name: ClassVar[str]

    def __init__(self, model: str, tokens_in: int) -> None:
        self._model = model
        self._tokens_in = tokens_in

    @abstractmethod
    def opening(self) -> bytes:
        """What comes before the first piece."""

    @abstractmethod
    def text(self, piece: str) -> bytes:
        """A piece of the text."""

    @abstractmethod
    def thinking(self, piece: str) -> bytes:
        """A piece of the reasoning that comes before the text."""

    def refusal(self, piece: str) -> bytes:
        """A piece of a refusal; in most formats a text, and the end says what it was."""
        return self.text(piece)

    @abstractmethod
    def closing(self, stop: Stop, tokens: Tokens | None) -> bytes:
        """The end, with what it took (input and output tokens), if that is told."""

    def ping(self) -> bytes:
        """A keep-alive, here a comment."""
        return b": keep-alive\n\n"

    def error(self, status: int) -> Json:
        """The body of an error answer."""
        return {"error": {"message": "the fake was told to fail", "type": "server_error", "code": str(status)}}

    @staticmethod
    def prompt_of(body: Json) -> str:
        """The text of all user messages of a request."""
        return "\n".join(_texts(message.get("content")) for message in body.get("messages", []))


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


class ChatDialect(Dialect):
    """OpenAI chat completions, which most local servers speak too."""

    name = "openai-chat"

    def _chunk(self, delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return event(self._envelope() | {"choices": [choice]})

    def _envelope(self) -> Json:
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": self._model}

    def opening(self) -> bytes:
        """See Dialect."""
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, piece: str) -> bytes:
        """See Dialect."""
        return self._chunk({"content": piece})

    def thinking(self, piece: str) -> bytes:
        """See Dialect."""
        return self._chunk({"reasoning_content": piece})

    def refusal(self, piece: str) -> bytes:
        """See Dialect."""
        return self._chunk({"refusal": piece})

    def closing(self, stop: Stop, tokens: Tokens | None) -> bytes:
        """See Dialect."""
        finish = "length" if stop == "length" else "stop"
        end = self._chunk({}, finish)
        if tokens is not None:
            taken = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
            end += event(self._envelope() | {"choices": [], "usage": taken})
        return end + event("[DONE]")


class ResponsesDialect(Dialect):
    """The OpenAI Responses API."""

    name = "openai"

    def __init__(self, model: str, tokens_in: int) -> None:
        super().__init__(model, tokens_in)
        self._number = 0
        self._pieces: list[str] = []
        self._thinks = False
        self._writes = False

    def _event(self, kind: str, **members: Any) -> bytes:
        data = {"type": kind, "sequence_number": self._number, **members}
        self._number += 1
        return event(data, kind)

    def _response(self, status: str, **members: Any) -> Json:
        fixed = {"id": "resp_1", "object": "response", "created_at": 1, "model": self._model, "output": []}
        return fixed | {"status": status, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []} | members

    def opening(self) -> bytes:
        """See Dialect."""
        return self._event("response.created", response=self._response("in_progress"))

    def thinking(self, piece: str) -> bytes:
        """See Dialect."""
        begin = b""
        if not self._thinks:
            self._thinks = True
            item = {"type": "reasoning", "id": "rs_1", "summary": []}
            begin = self._event("response.output_item.added", output_index=0, item=item)
            part = {"type": "summary_text", "text": ""}
            place = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
            begin += self._event("response.reasoning_summary_part.added", part=part, **place)
        place = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
        return begin + self._event("response.reasoning_summary_text.delta", delta=piece, **place)

    def text(self, piece: str) -> bytes:
        """See Dialect."""
        begin = self._begin_message({"type": "output_text", "text": "", "annotations": []})
        self._pieces.append(piece)
        return begin + self._event("response.output_text.delta", delta=piece, logprobs=[], **self._place())

    def refusal(self, piece: str) -> bytes:
        """See Dialect."""
        begin = self._begin_message({"type": "refusal", "refusal": ""})
        self._pieces.append(piece)
        return begin + self._event("response.refusal.delta", delta=piece, **self._place())

    def _place(self) -> Json:
        return {"item_id": "msg_1", "output_index": int(self._thinks), "content_index": 0}

    def _begin_message(self, part: Json) -> bytes:
        if self._writes:
            return b""
        self._writes = True
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
        begin = self._event("response.output_item.added", output_index=int(self._thinks), item=item)
        return begin + self._event("response.content_part.added", part=part, **self._place())

    def closing(self, stop: Stop, tokens: Tokens | None) -> bytes:
        """See Dialect."""
        index, end, text = int(self._thinks), b"", "".join(self._pieces)
        content: Json = {"type": "output_text", "text": text, "annotations": []}
        if stop == "refusal":
            content = {"type": "refusal", "refusal": text}
        status = "incomplete" if stop == "length" else "completed"
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": [content]}
        if self._writes:
            if stop == "refusal":
                end += self._event("response.refusal.done", refusal=text, **self._place())
            else:
                end += self._event("response.output_text.done", text=text, logprobs=[], **self._place())
            end += self._event("response.output_item.done", output_index=index, item=item)
        members: Json = {"output": [item] if self._writes else []}
        if stop == "length":
            members["incomplete_details"] = {"reason": "max_output_tokens"}
        if tokens is not None:
            members["usage"] = {
                "input_tokens": tokens[0],
                "output_tokens": tokens[1],
                "total_tokens": sum(tokens),
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            }
        kind = "response.incomplete" if stop == "length" else "response.completed"
        return end + self._event(kind, response=self._response(status, **members))

    @staticmethod
    def prompt_of(body: Json) -> str:
        """See Dialect."""
        given = body.get("input", "")
        if isinstance(given, str):
            return given
        return "\n".join(_texts(item.get("content")) for item in given)


class AnthropicDialect(Dialect):
    """The Anthropic Messages API."""

    name = "anthropic"

    def __init__(self, model: str, tokens_in: int) -> None:
        super().__init__(model, tokens_in)
        self._block = -1
        self._kind = ""

    def _event(self, kind: str, **members: Any) -> bytes:
        return event({"type": kind, **members}, kind)

    def opening(self) -> bytes:
        """See Dialect."""
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": self._model, "content": []}
        usage = {"input_tokens": self._tokens_in, "output_tokens": 1}
        started = message | {"stop_reason": None, "stop_sequence": None, "usage": usage}
        return self._event("message_start", message=started)

    def _in_block(self, kind: str, empty: Json) -> bytes:
        if self._kind == kind:
            return b""
        end = self._end_block()
        self._kind, self._block = kind, self._block + 1
        return end + self._event("content_block_start", index=self._block, content_block=empty)

    def _end_block(self) -> bytes:
        if not self._kind:
            return b""
        self._kind = ""
        return self._event("content_block_stop", index=self._block)

    def text(self, piece: str) -> bytes:
        """See Dialect."""
        begin = self._in_block("text", {"type": "text", "text": ""})
        delta = {"type": "text_delta", "text": piece}
        return begin + self._event("content_block_delta", index=self._block, delta=delta)

    def thinking(self, piece: str) -> bytes:
        """See Dialect."""
        begin = self._in_block("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        delta = {"type": "thinking_delta", "thinking": piece}
        return begin + self._event("content_block_delta", index=self._block, delta=delta)

    def closing(self, stop: Stop, tokens: Tokens | None) -> bytes:
        """See Dialect."""
        reason = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}[stop]
        usage = {"output_tokens": tokens[1] if tokens else 0}
        delta = {"stop_reason": reason, "stop_sequence": None}
        return self._end_block() + self._event("message_delta", delta=delta, usage=usage) + self._event("message_stop")

    def ping(self) -> bytes:
        """See Dialect."""
        return self._event("ping")

    def error(self, status: int) -> Json:
        """See Dialect."""
        kind = {429: "rate_limit_error", 529: "overloaded_error"}.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": "the fake was told to fail"}}


class GeminiDialect(Dialect):
    """Google's generateContent."""

    name = "google"

    def _chunk(self, parts: list[Json], **members: Any) -> bytes:
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0} | members.pop("candidate", {})
        return event({"candidates": [candidate], "modelVersion": self._model, "responseId": "r1"} | members)

    def opening(self) -> bytes:
        """See Dialect."""
        return b""

    def text(self, piece: str) -> bytes:
        """See Dialect."""
        return self._chunk([{"text": piece}])

    def thinking(self, piece: str) -> bytes:
        """See Dialect."""
        return self._chunk([{"text": piece, "thought": True}])

    def closing(self, stop: Stop, tokens: Tokens | None) -> bytes:
        """See Dialect."""
        reason = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}[stop]
        counts = {"promptTokenCount": tokens[0], "candidatesTokenCount": tokens[1]} if tokens else {}
        return self._chunk([{"text": ""}], candidate={"finishReason": reason}, usageMetadata=counts)

    def ping(self) -> bytes:
        """An empty piece: this format has no keep-alive."""
        return self._chunk([{"text": ""}])

    def error(self, status: int) -> Json:
        """See Dialect."""
        return {"error": {"code": status, "message": "the fake was told to fail", "status": "UNAVAILABLE"}}

    @staticmethod
    def prompt_of(body: Json) -> str:
        """See Dialect."""
        return "\n".join(_texts(content.get("parts")) for content in body.get("contents", []))


def dialect_for(path: str) -> type[Dialect] | None:
    """The format that a path of a provider's API stands for."""
    place = path.partition("?")[0]
    if place.endswith("/chat/completions"):
        return ChatDialect
    if place.endswith("/responses"):
        return ResponsesDialect
    if place.endswith("/messages"):
        return AnthropicDialect
    return GeminiDialect if place.endswith(":streamGenerateContent") else None
