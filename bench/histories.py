"""Histories of an agent at work: chains of tool calls with results that look like the output of tools."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from condense_grpc.api.condense.v1 import message_pb2 as pb

_WORDS = (
    "error warning build test module session record ref flush view edit index store row commit digest time path src "
    "lib core main value name result list item config server client stream chunk batch chain stub summary"
)
_EACH = _WORDS.split()


@dataclass(frozen=True, slots=True)
class Shape:
    """How a history looks: characters of one result, and calls between a user message and its answer."""

    result_chars: int = 2048
    calls_per_chain: int = 49

    @classmethod
    def of(cls, messages: int, total_bytes: int, calls_per_chain: int = 49) -> "Shape":
        """Results such that so many messages have so many bytes in all."""
        results = max(messages * calls_per_chain // (2 * calls_per_chain + 2), 1)
        return cls(max(total_bytes // results - 200, 64), calls_per_chain)


def history(messages: int, shape: Shape, seed: int = 1) -> Iterator[pb.Message]:
    """The first so many messages of a history, the same for the same seed."""
    chance = random.Random(seed)
    texts = [tool_output(chance, shape.result_chars) for _ in range(16)]
    cycle = 2 * shape.calls_per_chain + 2
    for position in range(messages):
        step = position % cycle
        if step == 0:
            yield user(f"Task {position}: {' '.join(chance.choices(_EACH, k=12))}")
        elif step == cycle - 1:
            yield answer(f"Done with {position}: {' '.join(chance.choices(_EACH, k=30))}")
        elif step % 2:
            yield call(f"call_{seed}_{position}", f"src/{chance.choice(_EACH)}/{position}.py")
        else:
            text = texts[chance.randrange(16)]
            # Unlike in every result, so that none is a duplicate of another.
            yield result(f"call_{seed}_{position - 1}", f"run {seed}/{position}\n{text}"[: len(text)])


def turn(number: int, result_chars: int = 2048) -> list[pb.Message]:
    """One step of an agent: a call and its result."""
    name = f"call_turn_{number}"
    text = tool_output(random.Random(number), result_chars)
    return [call(name, f"src/turn/{number}.py"), result(name, text)]


def user(text: str) -> pb.Message:
    return pb.Message(user=pb.UserMessage(parts=[_text(text)]))


def answer(text: str) -> pb.Message:
    return pb.Message(assistant=pb.AssistantMessage(parts=[_text(text)]))


def call(tool_call_id: str, path: str) -> pb.Message:
    made = pb.ToolCallPart(id=tool_call_id, name="read", arguments_json=f'{{"path":"{path}","limit":200}}')
    return pb.Message(assistant=pb.AssistantMessage(parts=[_text("Reading on."), pb.Part(tool_call=made)]))


def result(tool_call_id: str, text: str) -> pb.Message:
    return pb.Message(
        tool_result=pb.ToolResultMessage(tool_call_id=tool_call_id, tool_name="read", parts=[_text(text)])
    )


def _text(text: str) -> pb.Part:
    return pb.Part(text=pb.TextPart(text=text))


def tool_output(chance: random.Random, chars: int) -> str:
    """Lines of words and numbers, exactly so many characters."""
    lines: list[str] = []
    length = 0
    while length < chars:
        line = f"{chance.randrange(10_000):>5} {' '.join(chance.choices(_EACH, k=9))} 0x{chance.getrandbits(32):08x}"
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:chars].ljust(chars, ".")
