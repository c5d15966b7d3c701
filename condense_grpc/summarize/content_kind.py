"""What kind of content a result is: it decides which of its lines tell most.

The text itself is asked first, since the same shell tool prints files, logs and diffs; the name of the tool and
its command decide what the text leaves open. Only a sample of the text is looked at. A wrong guess costs a few
less telling lines, nothing else: the index of names is the same for every kind.
"""

import re
from collections.abc import Sequence
from enum import Enum

_SAMPLE_CHARS = 6000
_MOSTLY = 0.6


class Kind(Enum):
    """The kinds that are summarized differently."""

    FILE = "file"
    LISTING = "listing"
    SEARCH = "matches"
    LOG = "log"
    TRACE = "stack trace"
    DIFF = "diff"
    JSON = "JSON"
    PAGE = "page"
    OTHER = "text"


_DIFF = re.compile(r"^(?:diff --git |@@ -\d|--- [^\n]{1,300}\n\+\+\+ )", re.M)
_TRACE = re.compile(
    r"^Traceback \(most recent call last\)|^panic: |^goroutine \d+ \[|^\s{1,20}at [^\n]{1,200}:\d+|^Exception in thread"
    r"|^thread '[^'\n]{1,80}' panicked|^Caused by: ",
    re.M,
)
_PAGE = re.compile(r"<!doctype html|<html[\s>]|<body[\s>]", re.I)
_LOG = re.compile(
    r"^\s{0,8}(?:\[?(?:error|warning|warn|info|debug|fatal)\b|--- (?:FAIL|PASS)|=== RUN|FAIL\b|PASS\b|ok\s{1,4}\S|E   )"
    r"|\berror(?:\[\w+\]| TS\d+)?: |\b\d+ (?:passed|failed|errors?|warnings?|tests?)\b"
    r"|exit(?:ed with)? (?:code|status) \d"
    r"|^npm (?:ERR!|error)|\d\d:\d\d:\d\d|^\s{0,4}(?:Compiling|Finished|Downloading|Collecting|Installing) ",
    re.I | re.M,
)
_NUMBERED_LINE = re.compile(r"\s{0,12}\d{1,7}(?:→|\t|[:|] )")
_MATCH_LINE = re.compile(
    r"(?!\d\d:\d\d|\d{4}-\d\d)(?:[^\s:]{1,300}[:-])?\d{1,7}[:-]|[^\s:]{1,300}\.\w{1,8}[:-]\d{1,7}[:-]"
)
_ENTRY_LINE = re.compile(r"[-dl][rwxsStT-]{9}|total \d+$|[\s│├└─|`+-]{0,80}[\w./@~+ -]{1,300}[/*]?$")

_TOOLS = (
    (Kind.SEARCH, ("grep", "search", "rg", "ripgrep")),
    (Kind.LISTING, ("ls", "glob", "find", "list", "tree", "dir")),
    (Kind.PAGE, ("fetch", "browse", "browser", "web", "webfetch", "url", "http", "navigate")),
    (Kind.FILE, ("read", "view", "cat", "open")),
)
_COMMANDS = (
    (Kind.SEARCH, re.compile(r"(?:git )?(?:e?grep|rg|ag|ack)\b")),
    (Kind.LISTING, re.compile(r"(?:ls|find|fd|tree|dir|git ls-files)\b")),
    (Kind.FILE, re.compile(r"(?:cat|head|tail|sed -n|less|bat|nl|type)\b(?!.{0,200}<<)")),
    (
        Kind.LOG,
        re.compile(
            r"(?:npm|yarn|pnpm|npx|make|cargo|go (?:test|build|vet)|pytest|python\S* -m pytest|tox|mvn|gradle)\b"
        ),
    ),
)
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def kind_of(tool_name: str, command: str, text: str) -> Kind:
    """The kind of a cleaned result; `command` is the shell command of the call, if it has one."""
    head = text[:_SAMPLE_CHARS]
    first = head.lstrip()[:1]
    if first in {"{", "["} and text.rstrip()[-1:] in {"}", "]"}:
        return Kind.JSON
    if _DIFF.search(head):
        return Kind.DIFF
    lines = [line for line in head.split("\n")[:60] if line.strip()]
    if _mostly(_NUMBERED_LINE, lines):
        return Kind.FILE
    named = _from_name(tool_name) or _from_command(command)
    if named is not None and named is not Kind.LOG:
        return named
    if _TRACE.search(head) or _TRACE.search(text[-2000:]):
        return Kind.TRACE
    if _PAGE.search(head):
        return Kind.PAGE
    if _mostly(_MATCH_LINE, lines):
        return Kind.SEARCH
    if named is Kind.LOG or _LOG.search(head) or _LOG.search(text[-2000:]):
        return Kind.LOG
    return Kind.LISTING if len(lines) > 3 and _mostly(_ENTRY_LINE, lines) and _short(lines) else Kind.OTHER


def _from_name(tool_name: str) -> Kind | None:
    parts = [part.lower() for part in _NAME_PART.findall(tool_name[:200])]
    for kind, words in _TOOLS:
        if any(part in words for part in parts):
            return kind
    return None


def _from_command(command: str) -> Kind | None:
    """By the first program of the last command of a chain: `cd x && grep y | head` is a search."""
    last = re.split(r"&&|;|\n", command[:2000])[-1] if command else ""
    for kind, programs in _COMMANDS:
        if programs.match(last.strip()):
            return kind
    return None


def _mostly(pattern: re.Pattern[str], lines: Sequence[str]) -> bool:
    return bool(lines) and sum(1 for line in lines if pattern.match(line)) >= _MOSTLY * len(lines)


def _short(lines: Sequence[str]) -> bool:
    """Entries are names, not sentences."""
    return sum(line.count(" ") for line in lines) <= 4 * len(lines)
