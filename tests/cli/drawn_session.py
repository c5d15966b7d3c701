"""Sessions drawn by chance, with everything that recorded ones have and more of what is rare in them."""

from random import Random
from typing import Any

from tests.cli.session_sample import file_text

Json = dict[str, Any]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TEXTS = ["", " \n", "ok", file_text("alpha", 30), file_text("beta", 30), "x = [1]\r\n" * 200, "長い行\n" * 90]
ARGUMENTS: list[Json] = [{}, {"path": "a.py"}, {"command": "make " + "y" * 700}, {"path": "CLAUDE.md", "n": 1.0}]


class Drawn:
    """One session. The same seed draws the same."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._time = 1_760_000_000_000
        self._ids: list[str] = []
        self.messages: list[Json] = []
        for number in range(self._random.randint(4, 7)):
            self._chain(number)

    def _add(self, **message: Any) -> None:
        self._time += 1000
        self.messages.append({**message, "timestamp": self._time})

    def _chain(self, number: int) -> None:
        choice = self._random
        self._add(role="user", content=[{"type": "text", "text": f"do number {number}"}])
        for _ in range(choice.randint(0, 4)):
            self._turn()
        if choice.random() < 0.85:
            self._add(role="assistant", content=[*self._thinking(), {"type": "text", "text": f"did {number}"}])

    def _thinking(self) -> list[Json]:
        return (
            [{"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}] if self._random.random() < 0.3 else []
        )

    def _turn(self) -> None:
        choice = self._random
        names = choice.choices(["bash", "read", "grep"], k=choice.randint(1, 3))
        calls = [{"type": "toolCall", "id": self._id(), "name": name, "arguments": self._arguments()} for name in names]
        said = [{"type": "text", "text": "let me see"}] if choice.random() < 0.3 else []
        self._add(role="assistant", content=[*self._thinking(), *said, *calls])
        if len({call["id"] for call in calls}) == len(calls):
            choice.shuffle(calls)
        for call in calls:
            if choice.random() < 0.1:
                self._interrupt()
            if choice.random() < 0.05:
                continue
            self._result(call)
            if choice.random() < 0.04:
                self._result(call)

    def _id(self) -> str:
        if self._ids and self._random.random() < 0.1:
            return self._random.choice(self._ids)
        self._ids.append(f"call_{len(self._ids)}")
        return self._ids[-1]

    def _arguments(self) -> Json:
        return dict(self._random.choice(ARGUMENTS))

    def _interrupt(self) -> None:
        if self._random.random() < 0.5:
            self._add(role="user", content="faster, please")
        else:
            self._add(role="custom", customType="note", content="the host says hello", display=True)

    def _result(self, call: Json) -> None:
        choice = self._random
        text = file_text("log", 1500) if choice.random() < 0.05 else choice.choice(TEXTS)
        content: list[Json] = [{"type": "text", "text": text}]
        if choice.random() < 0.1:
            content.append({"type": "image", "mimeType": "image/png", "data": PIXEL})
        failed = choice.random() < 0.3
        names = {"toolCallId": call["id"], "toolName": call["name"]}
        self._add(role="toolResult", **names, content=content, isError=failed)
