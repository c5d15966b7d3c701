"""Guessing what a result is."""

import pytest

from condense_grpc.summarize.content_kind import Kind, kind_of


@pytest.mark.parametrize(
    ("tool", "command", "text", "kind"),
    [
        ("Read", "", "import os\nprint(os)", Kind.FILE),
        ("unknown", "", "     1→import os\n     2→x = 1", Kind.FILE),
        ("bash", "cat src/a.py | head", "import os", Kind.FILE),
        ("Glob", "", "a.py\nb.py", Kind.LISTING),
        ("bash", "cd /x && ls -la", "total 8\n-rw-r--r-- 1 a a 3 Jan 1 x", Kind.LISTING),
        ("Grep", "", "whatever", Kind.SEARCH),
        ("tool", "", "src/a.py:1:import os\nsrc/b.py:22:import re", Kind.SEARCH),
        ("bash", "pytest -q", "....\n4 passed in 0.1s", Kind.LOG),
        ("bash", "./run", "12:30:01 INFO start\n12:30:02 ERROR stop", Kind.LOG),
        ("bash", "python x.py", 'Traceback (most recent call last):\n  File "x.py", line 1', Kind.TRACE),
        ("bash", "node x.js", "Error: no\n    at run (x.js:1:2)\n    at main (x.js:3:4)", Kind.TRACE),
        ("bash", "git diff", "diff --git a/x b/x\n@@ -1 +1 @@", Kind.DIFF),
        ("get_order", "", '{"id": 1}\n', Kind.JSON),
        ("web_fetch", "", "# A title\ntext", Kind.PAGE),
        ("tool", "", "<!DOCTYPE html><html><body>x", Kind.PAGE),
        ("tool", "", "Just a sentence that says that all went well.", Kind.OTHER),
        ("", "", "", Kind.OTHER),
    ],
)
def test_the_kind_follows_from_text_tool_and_command(tool: str, command: str, text: str, kind: Kind) -> None:
    assert kind_of(tool, command, text) is kind
