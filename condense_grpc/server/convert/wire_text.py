"""Texts that are fit for the wire.

Protobuf strings are UTF-8. Texts from the wire are, but what was read out of JSON escapes can hold lone surrogates,
which no encoding has; they are shown as U+FFFD.
"""

from collections.abc import Iterable


def wire_text(text: str) -> str:
    """The text, with lone surrogates replaced."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def wire_texts(texts: Iterable[str]) -> list[str]:
    """The same for each of several texts."""
    return [wire_text(text) for text in texts]
