"""A small recorded session, made here: three pieces of work with reads, a failure, a repeat and a parallel turn."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Recorder:
    """Writes messages with rising timestamps."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self._time = 1_760_000_000_000
        self._calls = 0

    def _add(self, message: Json) -> None:
        self._time += 1000
        self.messages.append({**message, "timestamp": self._time})

    def user(self, text: str) -> None:
        self._add({"role": "user", "content": [{"type": "text", "text": text}]})

    def answer(self, text: str) -> None:
        self._add({"role": "assistant", "content": [{"type": "text", "text": text}]})

    def work(self, *calls: tuple[str, Json, str, bool]) -> None:
        """One assistant message with calls, and their results."""
        first = self._calls
        blocks = []
        for name, arguments, _, _ in calls:
            self._calls += 1
            blocks.append({"type": "toolCall", "id": f"call_{self._calls}", "name": name, "arguments": arguments})
        self._add({"role": "assistant", "content": blocks})
        for offset, (name, _, text, is_error) in enumerate(calls):
            content = [{"type": "text", "text": text}]
            result = {"role": "toolResult", "toolCallId": f"call_{first + offset + 1}", "toolName": name}
            self._add({**result, "content": content, "isError": is_error})


def file_text(name: str, lines: int = 60) -> str:
    return "\n".join(
        f"def {name}_{number}(value): return value * {number}  # líne {number} 🙂" for number in range(lines)
    )


def sample_session() -> list[Json]:
    recorder = Recorder()
    recorder.user("Look at the modules.")
    recorder.work(
        ("read", {"path": "a.py"}, file_text("alpha"), False), ("read", {"path": "b.py"}, file_text("beta"), False)
    )
    recorder.work(("bash", {"command": "make " + "x" * 600}, "make: *** no rule\r\nexit 2", True))
    recorder.answer("Two modules.")
    recorder.user("Again.")
    recorder.work(("read", {"path": "a.py"}, file_text("alpha"), False))
    recorder.work(("read", {"path": "big.log"}, file_text("log", 1500), False))
    recorder.answer("The same.")
    recorder.user("And the rest?")
    recorder.work(("read", {"path": "c.py"}, file_text("gamma"), False))
    recorder.answer("Done.")
    recorder.user("Thanks.")
    recorder.answer("You are welcome.")
    return recorder.messages


def write_session(path: Path, messages: list[Json]) -> Path:
    path.write_text("".join(json.dumps(message) + "\n" for message in messages), encoding="utf-8")
    return path
