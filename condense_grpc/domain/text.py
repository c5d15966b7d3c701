"""Text of results: trimming, the content hash, and pieces of a text that fit a limit.

Whitespace is a fixed set (the one of ECMAScript), because keys and hashes must not depend on the Unicode tables of
the running Python. Lengths are code points, sizes are UTF-8 bytes, and a cut never splits a character. Lone
surrogates, which JSON can carry, count three bytes and never raise.
"""

import hashlib
import re

from condense_grpc.domain.frozen import frozen

WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
# Look-behind and possessive match keep a long run of blanks inside a line from costing its length squared.
_LINE_END_BLANKS = re.compile(r"(?<![ \t])[ \t]++(?=\n)")


def trim(text: str) -> str:
    """The text without whitespace at both ends; 0x1c-0x1f and U+0085 are not whitespace."""
    return text.strip(WHITESPACE)


def is_blank(text: str) -> bool:
    """Whether there is nothing but whitespace."""
    return not trim(text)


def utf8(text: str) -> bytes:
    """The UTF-8 bytes; a lone surrogate becomes the three bytes it would have."""
    return text.encode("utf-8", "surrogatepass")


def storable(text: str) -> str:
    """The text as every database takes it: a NUL or a lone surrogate becomes another character."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def utf8_bytes(text: str) -> int:
    """Size of the UTF-8 form."""
    return len(text) if text.isascii() else len(utf8(text))


def normalize(text: str) -> str:
    """What the content hash looks at: LF line ends, no blanks at line ends, trimmed."""
    text = text.replace("\r\n", "\n")
    if " \n" in text or "\t\n" in text:  # else the pattern would look at every blank for nothing
        text = _LINE_END_BLANKS.sub("", text)
    return trim(text)


def content_hash(tool_name: str, text: str) -> str:
    """SHA-1 in lower-case hex over tool name, NUL and normalized text: equal for results that say the same."""
    digest = hashlib.sha1(utf8(tool_name), usedforsecurity=False)
    digest.update(b"\x00")
    digest.update(utf8(normalize(text)))
    return digest.hexdigest()


def prefix_within(text: str, max_bytes: int) -> str:
    """The longest prefix of whole characters with at most `max_bytes` bytes."""
    head = text[: max(0, max_bytes)]
    if head.isascii():
        return head
    data = utf8(head)
    cut = min(len(data), max_bytes)
    while cut < len(data) and data[cut] & 0xC0 == 0x80:
        cut -= 1
    return data[:cut].decode("utf-8", "surrogatepass")


def head_preview(text: str, max_bytes: int) -> str:
    """The head of a text within `max_bytes`, ending with a whole line where it holds one."""
    kept = prefix_within(text, max_bytes)
    if len(kept) == len(text):
        return text
    last_line_feed = kept.rfind("\n")
    return kept[:last_line_feed] if last_line_feed > 0 else kept


def lines_of(text: str) -> list[str]:
    """The LF-separated lines; a final LF opens no further line, the empty text has none."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def count_lines(text: str) -> int:
    """The number of `lines_of`, without making them."""
    return text.count("\n") + (bool(text) and not text.endswith("\n"))


@frozen
class Truncated:
    """The head of a text. `first_line_cut`: the content is a piece of the first line, which alone was too long."""

    content: str
    truncated: bool
    shown_lines: int
    total_lines: int
    first_line_cut: bool = False


def truncate_head(text: str, max_lines: int, max_bytes: int) -> Truncated:
    """As many whole lines of the head as both limits allow; a first line that is too long is cut."""
    total = count_lines(text)
    if total <= max_lines and utf8_bytes(text) <= max_bytes:
        return Truncated(text, False, total, total)
    if total == 0 or max_lines <= 0:
        return Truncated("", True, 0, total)
    first_end = text.find("\n")
    first = text if first_end < 0 else text[:first_end]
    if utf8_bytes(first) > max_bytes:
        content = prefix_within(first, max_bytes)
        return Truncated(content, True, 1 if content else 0, total, first_line_cut=bool(content))
    shown: list[str] = []
    used = 0
    lines = min(max_lines, total)
    for line in text.split("\n", lines)[:lines]:
        used += utf8_bytes(line) + (1 if shown else 0)
        if used > max_bytes:
            break
        shown.append(line)
    return Truncated("\n".join(shown), True, len(shown), total)
