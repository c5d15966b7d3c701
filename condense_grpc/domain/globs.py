"""Globs over paths and names, in time linear in the text however many stars a pattern has.

`**/` matches zero or more directory parts, `**` any run without line ends, `*` any run without `/`, `?` one
character other than `/`; everything else is itself. The whole text must match, case counts. A pattern is a row of
positions; matching keeps the set of positions that the text read so far can have reached, as the bits of one
integer, and never goes back.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile

from condense_grpc.domain.frozen import frozen

_TOKENS = re.compile(r"\*\*/|\*\*|[\s\S]")
_WILDCARDS = ("?", "*", "**", "**/")
_LINE_ENDS = frozenset("\n\r\u2028\u2029")


@frozen
class Glob:
    """A compiled pattern. Every mask has one bit per position: bit i is "before token i".

    `head` and `tail` are what a text must begin and end with, up to the first wildcard and behind the last.
    """

    head: str
    tail: str
    length: int
    literals: dict[str, int]
    any_mark: int
    star: int
    globstar: int
    directories: int

    def matches(self, text: str) -> bool:
        """Whether the whole text matches. Most texts do not, and nearly all of these have another end."""
        if not text.endswith(self.tail) or not text.startswith(self.head):
            return False
        return self._reached(text) >> self.length & 1 == 1

    def _reached(self, text: str) -> int:
        reached = self._skip_empty(1)
        inside = 0  # positions of `**/` whose current directory part has begun
        for char in text:
            literal = self.literals.get(char, 0)
            run = 0 if char in _LINE_ENDS else reached & self.globstar
            parts = inside | reached & self.directories
            if char == "/":
                inside = 0
                following = (reached & literal) << 1 | run | parts
            else:
                inside = parts
                following = (reached & (literal | self.any_mark)) << 1 | run | reached & self.star
            reached = self._skip_empty(following)
            if not reached | inside:
                break
        return reached

    def _skip_empty(self, reached: int) -> int:
        """Add the positions behind wildcards that match nothing.

        The sum lets a carry run from each reached wildcard through its neighbours to the first other token.
        """
        wild = self.star | self.globstar | self.directories
        return reached | (((reached & wild) + wild) ^ wild)


def _tokens(pattern: str) -> Iterator[str]:
    """The tokens from left to right; a repeated wildcard matches what one of it matches."""
    previous = ""
    for token in _TOKENS.findall(pattern):
        if token != previous or not token.startswith("*"):
            yield token
        previous = token


def _is_literal(token: str) -> bool:
    return token not in _WILDCARDS


@lru_cache(maxsize=1024)
def compile_glob(pattern: str) -> Glob:
    """Compile a pattern; there is no invalid one."""
    masks: dict[str, int] = {}
    length = 0
    tokens = list(_tokens(pattern))
    for token in tokens:
        masks[token] = masks.get(token, 0) | 1 << length
        length += 1
    wildcards = {token: masks.pop(token, 0) for token in _WILDCARDS}
    head = "".join(takewhile(_is_literal, tokens))
    tail = "".join([*takewhile(_is_literal, reversed(tokens))][::-1])
    return Glob(head, tail, length, masks, wildcards["?"], wildcards["*"], wildcards["**"], wildcards["**/"])


def glob_matches(pattern: str, text: str) -> bool:
    """Whether the whole text matches the pattern."""
    return compile_glob(pattern).matches(text)
