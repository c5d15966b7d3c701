"""The patterns that tell which lines of a result are worth quoting.

All of them look at one line, have bounded repetitions, and never try the same characters twice in two ways: results
are untrusted, and may be built to make a pattern slow.
"""

import re

# Possessive: what is left of the code is never tried twice, however much of it there is.
_LEFT = r"^[ \t]{0,80}+(?:\d{1,7}+(?:→|\t|[:|] ?)[ \t]{0,80}+)?+"
_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|async|abstract|final|sealed|pub|unsafe"
    r"|override|virtual|inline|extern|readonly|get|set)\b(?:\([a-z]{1,9}\))?[ \t]{1,4}+){0,4}+"
)
_KEYWORDS = r"(?:def|class|func|function\*?|fn|interface|type|struct|enum|trait)"

DEFINITION = re.compile(
    _LEFT + r"(?:" + _MODIFIERS + r"(?:" + _KEYWORDS + r"|impl|module|namespace|package|record|protocol|extension"
    r"|object|macro_rules!|CREATE (?:TABLE|VIEW|INDEX|FUNCTION))[ \t(]"
    r"|(?:public|private|protected|static|async|get|set)[ \t]{1,4}[\w<>\[\], .*&]{0,60}\w\("
    r"|[A-Z][A-Z0-9_]{3,60}[ \t]{0,4}=|(?:export[ \t]{1,4})?const[ \t]{1,4}\w{1,80}[^=\n]{0,60}=|\#{1,4} \S)",
    re.M,
)
FOUND = re.compile(r"^(?:[^\s:]{1,300}:)?\d{1,7}:", re.M)
FOUND_DEFINITION = re.compile(FOUND.pattern + r"[ \t]{0,80}+" + _MODIFIERS + _KEYWORDS + r"[ \t(]", re.M)
HEADING = re.compile(r"^\s{0,3}#{1,4} \S|<title>|<h[1-3][\s>]", re.M | re.I)
HUNK = re.compile(r"^(?:diff --git |@@ -|[+-][ \t]{0,80}+" + _MODIFIERS + _KEYWORDS + r"\b)", re.M)
FRAME = re.compile(r"^\s{1,20}(?:File \"|at )|^\s{0,8}[\w./-]{1,200}\.\w{1,5}:\d{1,7}", re.M)
RAISED = re.compile(
    r"^(?:E\s{1,8})?(?:[\w.$]{0,120}(?:Error|Exception|Exit|Interrupt|Warning)\b|panic: |Caused by: |fatal error: "
    r"|thread '|Uncaught )",
    re.M,
)
COUNT = re.compile(
    r"\b\d{1,9} (?:passed|failed|errors?|warnings?|tests?|failures?|files? changed|problems?|matches|passing|failing"
    r"|skipped)\b|^(?:FAIL|FAILED|BUILD \w{1,20}|Ran \d{1,9})\b|exit(?:ed with)? (?:code|status):? \d"
    r"|^<returncode>[^0]",
    re.I | re.M,
)

# Looked for as plain strings in the whole text, which is much faster than a pattern; `DEFINITE` then sorts the lines.
ERROR_WORDS = (
    *(
        "error",
        "exception",
        "fail",
        "fatal",
        "panic",
        "denied",
        "not found",
        "no such",
        "cannot",
        "undefined",
        "unable",
    ),
    *("assert", "timed out", "traceback", "expected", "invalid", "warning"),
)
DEFINITE = re.compile(
    r"\b(?:[A-Za-z]{0,60}(?:Error|Exception)|error|fatal|panic|failed|FAIL(?:ED)?|E )\b"
    r"(?:\[\w{1,9}\]| TS\d{1,6})?[:!\]]"
    r"|^E\s|--- FAIL|^FAIL|^\s{0,8}[✗✘×✖]|\berror TS|^npm ERR",
)
HARMLESS = re.compile(
    r"\b(?:0|no) (?:errors?|failures?|failed|warnings?)\b|\b(?:errors?|failures?|failed|warnings?)[:=] ?0\b", re.I
)

NOT_EMPTY = re.compile(r"\S")
LINE_NUMBER = re.compile(r"\s{0,12}(\d{1,7})(?:→|\t|\| )")
# What hosts put around an output says nothing about it.
WRAPPING = re.compile(r"</?(?:output|returncode|system-reminder|stdout|stderr|tool_use_error)>$")
WORD = re.compile(r"[^\W\d]{2}")
DIGITS = re.compile(r"\d+")
