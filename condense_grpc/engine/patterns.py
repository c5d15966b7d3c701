"""Regular expressions of the RE2 kind: whatever they say, they take time that is linear in the text.

The library is needed only by who uses expressions; without it they are refused.
"""

import re
from collections.abc import Iterator
from typing import Any

from condense_grpc.domain.text_search import Hit
from condense_grpc.errors import NotImplementedYet, PatternInvalid

try:
    import re2
except ImportError:  # pragma: no cover
    re2 = None

# What one compiled expression may take; a larger one counts as malformed.
_MAX_BYTES = 8 * 1024 * 1024
# With one of these an expression can tell a line from a text: the ends of a text, and what `^` and `$` mean.
_TELLS_APART = re.compile(rb"\\[Az]|\(\?[imsU-]*m")


class LinePattern:
    """An expression that is matched within one line, case sensitive. Immutable; may be used on any thread."""

    def __init__(self, expression: str, field: str) -> None:
        """Raises PatternInvalid, which names `field`, or NotImplementedYet."""
        if re2 is None:  # pragma: no cover
            raise NotImplementedYet("regular expressions")
        source = _bytes_of(expression, field)
        self._line = _compiled(source, source, field)
        # Over a whole text it is much faster, as long as nothing in it can tell a line from a text.
        self._lines = None if _TELLS_APART.search(source) else _compiled(b"(?m)" + source, source, field)

    def matches(self, line: str) -> bool:
        """Whether a line contains a match."""
        return self._line.search(_encoded(line)) is not None

    def rank(self, text: str, arguments: str) -> int:
        """See Query."""
        if next(self.hits(text), None) is not None:
            return 2
        return int(self.matches(arguments))

    def hits(self, text: str) -> Iterator[Hit]:
        """See Query."""
        data = _encoded(text)
        number, start = 1, 0
        while start < len(data):
            match = self._search(data, start)
            if match is None:
                return
            at, to = match
            number += data.count(b"\n", start, at)
            start = data.rfind(b"\n", start, at) + 1 or start
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            line = data[start:end]
            before, until = len(_decoded(line[: at - start])), len(_decoded(line[: to - start]))
            yield Hit(number, _decoded(line), before, until)
            number, start = number + 1, end + 1

    def _search(self, data: bytes, start: int) -> tuple[int, int] | None:
        """The next match, which never goes over the end of a line; `start` is the start of a line."""
        if self._lines is not None:
            match = self._lines.search(data, start)
            return match and (match.start(), match.end())
        while start < len(data):
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            match = self._line.search(data[start:end])
            if match is not None:
                return start + match.start(), start + match.end()
            start = end + 1
        return None


def _compiled(pattern: bytes, source: bytes, field: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_BYTES
    options.never_nl = True
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else b""
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        what, _, fragment = reason.partition(": ")
        position = _position(source, what, fragment)
        raise PatternInvalid(field, f"is no expression of the RE2 kind: {what}", position=position) from None


def _position(source: bytes, what: str, fragment: str) -> int:
    """The character at which reading stopped, as far as the complaint tells it."""
    expression = _decoded(source)
    # About round brackets the complaint holds the whole expression.
    if not fragment or what.endswith(")"):
        return len(expression)
    return max(0, expression.find(fragment))


def _bytes_of(expression: str, field: str) -> bytes:
    try:
        return expression.encode()
    except UnicodeEncodeError as error:
        raise PatternInvalid(field, "holds a lone surrogate", position=error.start) from None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
