"""What a summary quotes must be in its source: paths, identifiers, error texts.

A model that copies wrongly costs the agent more than one that says less. This check counts; it does not decide. It
knows facts by their form, so it sees most of what was invented and nothing of what was misunderstood.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from condense_grpc.domain.batches import Batch
from condense_grpc.domain.json_text import parse_or_text

_MOST_FACTS = 300
_MOST_LEAVES = 20_000
_SPAN = re.compile(r"`([^`\n]{2,300})`|\"([^\"\n]{8,300})\"|([^\s`\"'(),;<>\[\]{}|]{4,300})")
_EDGES = ".:!?*_-"
_IDENTIFIER = re.compile(r"(?=\w*[A-Za-z])\w+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w+(?:Error|Exception)")
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,7}(?::\d+)*$")
_LINE_NUMBER = re.compile(r"(?::\d+(?:-\d+)?)+$")
_REF = re.compile(r"[tb]\d+$")
_REDACTED = "[redacted:"
_ELLIPSIS = re.compile(r"…|\.\.\.")


def facts_in(text: str) -> Iterator[str]:
    """What a summary quotes, each once, in order; at most some hundred."""
    known: set[str] = set()
    for match in _SPAN.finditer(text):
        quoted = match[1] or match[2]
        fact = quoted if quoted else _bare_fact(match[3])
        if not fact or fact in known or _REF.match(fact) or _REDACTED in fact:
            continue
        known.add(fact)
        yield fact
        if len(known) >= _MOST_FACTS:
            return


def _bare_fact(token: str) -> str:
    """A word that reads as a path or an identifier; empty for all others."""
    word = token.strip(_EDGES)
    if "/" in word:
        is_path = word[0] in "/~." or word.count("/") > 1 or _EXTENSION.search(word)
        return word if is_path and any(char.isalnum() for char in word) else ""
    return word if _IDENTIFIER.fullmatch(word) else ""


@dataclass(frozen=True)
class Source:
    """What a summary was made of, to look facts up in."""

    text: str

    @classmethod
    def of_batch(cls, batch: Batch) -> "Source":
        """Everything the model could have seen of a batch, unshortened."""
        pieces = [batch.assistant_text]
        for call in batch.calls:
            pieces += (call.tool_name, call.args_json, *_leaves(parse_or_text(call.args_json)), call.result_text)
        return cls("\n".join(pieces))

    @cached_property
    def _words(self) -> str:
        return " ".join(self.text.split())

    def has(self, fact: str) -> bool:
        """Whether it says this, whatever the spacing, without the line number that a summary may add to a path."""
        if fact in self.text:
            return True
        bare = _LINE_NUMBER.sub("", fact)
        pieces = [" ".join(piece.split()) for piece in _ELLIPSIS.split(bare)]
        return all(piece in self.text or piece in self._words for piece in pieces)


def _leaves(value: Any) -> Iterator[str]:
    """The strings in a value, keys among them, up to a bound; without recursion."""
    waiting = [value]
    for _ in range(_MOST_LEAVES):
        if not waiting:
            return
        member = waiting.pop()
        if isinstance(member, str):
            yield member
        elif isinstance(member, dict):
            waiting += [*member.keys(), *member.values()]
        elif isinstance(member, list):
            waiting += member


def count_facts(summary: str, source: Source) -> tuple[int, int]:
    """How many facts a summary quotes, and how many of them its source does not have."""
    facts = list(facts_in(summary))
    return len(facts), sum(not source.has(fact) for fact in facts)
