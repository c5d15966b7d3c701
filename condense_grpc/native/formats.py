"""The shapes in which providers want histories."""

from enum import StrEnum


class NativeFormat(StrEnum):
    """A shape. The order is that of the numbers under which shapes are stored; new ones go to the end."""

    PI = "pi"
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"

    @property
    def number(self) -> int:
        """The number under which it is stored."""
        return _ORDER.index(self) + 1

    @classmethod
    def of_number(cls, number: int) -> "NativeFormat":
        """The shape that was stored under a number."""
        return _ORDER[number - 1]


_ORDER = list(NativeFormat)
