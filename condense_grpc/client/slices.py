"""Parts of an original to ask for. Characters and lines count from 1, and both ends belong to a part."""

from condense_grpc.api.condense.v1.query_pb2 import CharRange, LineRange, PatternMatch, Slice
from condense_grpc.client.errors import RequestInvalid


def lines(ref: str, first: int, last: int | None = None, *, max_chars: int | None = None) -> Slice:
    """The lines from `first` to `last` (None: to the end) of what `ref` names."""
    _require_whole(ref)
    count = None if last is None else max(0, last - max(first, 1) + 1)
    return Slice(ref=ref, lines=LineRange(start_line=first, line_count=count), max_chars=max_chars)


def chars(ref: str, first: int, last: int | None = None, *, max_chars: int | None = None) -> Slice:
    """The characters from `first` to `last` (None: to the end) of what `ref` names."""
    _require_whole(ref)
    return Slice(ref=ref, chars=CharRange(start_char=first, end_char=last), max_chars=max_chars)


def matches(
    ref: str, pattern: str, *, regex: bool = False, context_lines: int = 0, max_chars: int | None = None
) -> Slice:
    """The lines that hold a text, or that match an RE2 expression, with lines around them."""
    _require_whole(ref)
    _require_whole(pattern)
    match = PatternMatch(pattern=pattern, regex=regex, context_lines=context_lines)
    return Slice(ref=ref, pattern=match, max_chars=max_chars)


def _require_whole(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RequestInvalid("a part is asked for by a text with a lone surrogate, half of a character") from error
