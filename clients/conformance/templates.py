"""What stands in the scenario file for long texts and long lists.

In the text of an element `{{n}}` is the number of its repetition, and `{{fill N}}` are N characters of output that
differs with `n` and with nothing else. An item of a list of elements is an element, as an object or, if its very text
matters, as text; `{"times", "from", "of"}` for repetitions; or `{"use", "n"}` for a list that the file names.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_MARK = re.compile(r"\{\{(n|fill (\d+))\}\}")


def fill(chars: int, number: int) -> str:
    """So many characters of lines that look like output of a tool."""
    lines: list[str] = []
    length = count = 0
    while length < chars:
        count += 1
        word = hashlib.sha256(f"{number}.{count}".encode()).hexdigest()[:24]
        lines.append(f"step {count} of run {number}: object_{word} is ready\n")
        length += len(lines[-1])
    return "".join(lines)[:chars]


def text_of(template: str, number: int) -> str:
    """The text that a template stands for."""
    return _MARK.sub(lambda mark: str(number) if mark[1] == "n" else fill(int(mark[2]), number), template)


def element_of(template: str, number: int) -> str:
    """The JSON text of an element: what is filled in stands within a string."""
    return _MARK.sub(
        lambda mark: str(number) if mark[1] == "n" else json.dumps(fill(int(mark[2]), number))[1:-1], template
    )


def elements_of(items: Sequence[Any], lists: Mapping[str, Sequence[Any]], number: int = 0) -> Iterator[str]:
    """The elements that a list of items stands for."""
    for item in items:
        if isinstance(item, str):
            yield element_of(item, number)
        elif "use" in item:
            yield from elements_of(lists[item["use"]], lists, item.get("n", number))
        elif "times" in item:
            first = item.get("from", 1)
            for repetition in range(first, first + item["times"]):
                yield from elements_of(item["of"], lists, repetition)
        else:
            yield element_of(json.dumps(item, ensure_ascii=False, separators=(",", ":")), number)
