"""The agent's conversation: its raw history in OpenAI's shape, its tools, and what it sends instead."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from condense_grpc.api.condense.v1.flush_pb2 import FLUSH_TRIGGER_MESSAGE_END
from condense_grpc.cli.demo.script import PlannedCall
from condense_grpc.cli.demo.tools import Toolbox, ToolOutput
from condense_grpc.client import OPENAI, FlushStream, Session
from condense_grpc.domain.json_text import value_chars
from condense_grpc.domain.numbers import token_estimate
from condense_grpc.server.convert.message import read_messages
from condense_grpc.testing.validator import validate

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the model. Tokens are estimates (characters / 4)."""

    turn: int
    raw_tokens: int
    sent_tokens: int
    is_valid: bool


class Conversation:
    """The history of one agent. It keeps its raw messages; the service tells it what to send."""

    def __init__(self, session: Session[Json], toolbox: Toolbox) -> None:
        self.messages: list[Json] = []
        self.outputs: dict[str, str] = {}
        self.requests: list[Request] = []
        self._session = session
        self._toolbox = toolbox
        self._turn = 0

    def ask(self, text: str) -> None:
        """A user speaks."""
        self._turn += 1
        self.messages.append({"role": "user", "content": text})

    def request(self) -> None:
        """What a model request would send now."""
        view = self._session.prune(self.messages)
        shown = read_messages([OPENAI.to_message(message) for message in view.messages], "messages")
        violations = validate(shown)
        raw, sent = _tokens(self.messages), _tokens(view.messages)
        self.requests.append(Request(self._turn, raw, sent, not violations))

    def act(self, calls: list[PlannedCall], told: Callable[[PlannedCall, ToolOutput], None]) -> list[ToolOutput]:
        """The model asks for tools, and they run. Without calls nothing is said."""
        if not calls:
            return []
        asked: list[Json] = []
        for call in calls:
            number = len(self.outputs) + len(asked) + 1
            function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
            asked.append({"id": f"call_{number}", "type": "function", "function": function})
        self.messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        results = []
        for call, made in zip(calls, asked, strict=True):
            result = self._run(call)
            self.outputs[made["id"]] = result.text
            self.messages.append({"role": "tool", "tool_call_id": made["id"], "content": result.text})
            told(call, result)
            results.append(result)
        return results

    def _run(self, call: PlannedCall) -> ToolOutput:
        if call.tool == "context_tree_query":
            return ToolOutput(self._session.answer_tool_call(call.arguments))
        return self._toolbox.call(call.tool, call.arguments)

    def answer(self, text: str) -> FlushStream:
        """The model answers: the natural moment to flush."""
        self.messages.append({"role": "assistant", "content": text})
        return self._session.flush(self.messages, trigger=FLUSH_TRIGGER_MESSAGE_END)


def _tokens(messages: list[Json]) -> int:
    return token_estimate(value_chars(messages))
