"""Untrusted text made fit to stand inside a summary.

Results of tools may hold anything: escape sequences, half characters, our own labels, delimiters and refs. What
leaves this module is one line without control characters in which nothing reads as ours: the label of a call,
a ref in backticks, a block placeholder, a delimiter of a compressed chain, a code fence. Everything else, refs
of other systems included, stays as it was written.

Invariants: a quoted line is never longer than its limit, never ends inside a character, and is encodable.
Every function is linear in what it looks at and raises for no text.
"""

import re
import unicodedata

_WINDOW_CHARS = 2000
_JOINER = "\u200d"
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b\[[0-9:;<=>?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|\x9b[0-9;?]*[@-~]"
)
# Direction overrides are among them: they make a line read differently from what it says.
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LABEL = re.compile(r"\[\[(?=[\s\d]*+:)")
_REF = re.compile(r"`(\s{0,9}+[tb]\d++\s{0,9}+)`")
_PLACEHOLDER = re.compile(r"\{(?=b\d++\})")
_FENCE = re.compile(r"`{3,}|~{3,}")
_DELIMITER = re.compile(
    r"<(?=\s{0,9}/?\s{0,9}(?:compressed-chain|protected-output|tool-call-batch|sub-task-summaries))", re.I
)


def clean(text: str) -> str:
    """The text without escape sequences, lines ending in LF; other characters are left to `quote`."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    return text.replace("\r\n", "\n") if "\r" in text else text


def quote(text: str, limit: int) -> str:
    """The text as one harmless line of at most `limit` characters; what is cut off leaves an ellipsis."""
    cut_off = len(text) > _WINDOW_CHARS
    line = text[:_WINDOW_CHARS]
    if _SURROGATE.search(line):
        line = line.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    line = " ".join(_INVISIBLE.sub("", _ESCAPE_SEQUENCE.sub("", line)).split())
    return cut(_neutral(line), limit, cut_off=cut_off)


def _neutral(line: str) -> str:
    """The line with everything broken up that would read as our own markup."""
    if "[[" in line:
        line = _LABEL.sub("[ [", line)
    if "`" in line or "~~~" in line:
        line = _FENCE.sub("''", _REF.sub(r"'\1'", line))
    if "{b" in line:
        line = _PLACEHOLDER.sub("{ ", line)
    return _DELIMITER.sub("&lt;", line) if "<" in line else line


def cut(line: str, limit: int, *, cut_off: bool = False) -> str:
    """The head of a line, with an ellipsis if something is missing; empty when there is no room for anything."""
    if len(line) <= limit and not cut_off:
        return line
    end = min(len(line), limit - 1)
    while 0 < end < len(line) and (_continues(line[end]) or line[end - 1] == _JOINER):
        end -= 1
    return line[:end].rstrip() + "…" if end > 0 else ""


def cut_front(line: str, limit: int) -> str:
    """The tail of a line: of a path the end says more than the beginning."""
    if len(line) <= limit:
        return line
    start = len(line) - limit + 1
    while start < len(line) and (_continues(line[start]) or line[start - 1] == _JOINER):
        start += 1
    return "…" + line[start:] if start < len(line) else ""


def _continues(char: str) -> bool:
    """Whether the character belongs to the one before it (accents, joined emoji)."""
    return char == _JOINER or unicodedata.category(char) in {"Mn", "Me", "Mc"} or "\U0001f3fb" <= char <= "\U0001f3ff"
