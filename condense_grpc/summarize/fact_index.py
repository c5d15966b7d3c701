"""The names in a text that an agent may need again: paths, identifiers, ids, compactly and without repetition.

Of the names an agent takes from a result and uses later, an index of the new ones keeps several times more than
any choice of lines of the same size: names are short, and most of them stand in the context already. So what is
known is left out, and the rest is ordered by how much it tells per character.

`words_in` is the one notion of a word: whoever collects the words of a context for `Known` must use it.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from heapq import heapify, heappop, heappush

from condense_grpc.domain.frozen import frozen

_TOKEN = re.compile(r"[\w~/.@][\w./@+-]*")
_LONG_TOKEN = re.compile(r"[\w~/.@][\w./@+-]{5,}")
_PART = re.compile(r"\w{6,}")
_CAMEL = re.compile(r"[a-z][A-Z]")
# `src/app.py-17-def` and `17-def` are how search tools show the lines around a match.
_CONTEXT_LINE = re.compile(r"(?:(.{2,}\.\w{1,8})-)?\d{1,7}-(?=\D|$)")
# Agents need the very number again now and then if it is an id, hardly ever if it is a duration or an address.
_NUMBER = re.compile(r"\d[\d.:_-]*[a-zA-Z]{0,2}$")
_NUMBER_VALUE = 0.5
_MEASURE = re.compile(r"\d+\.\d+[a-zA-Z]{0,2}$|\d+m?s$|0x[0-9a-fA-F]+$")
_MEASURE_VALUE = 0.1
_EDGES = ".-+/@"
_MIN_CHARS = 6
# Room for ` (+12345)`.
_MORE_CHARS = 9
_MAX_CHARS = 160
# Bounds the work on texts in which every word is another one (archives, hashes, random data).
_MAX_DISTINCT = 20_000


def words_in(text: str) -> set[str]:
    """The words of a text, whole (`store.Session.load`) and in parts (`Session`): what its reader knows from it."""
    tokens = set(_TOKEN.findall(text))
    words = {token.strip(_EDGES) for token in tokens}
    words.update(_PART.findall("\n".join(word for word in words if not word.isalnum())))
    return words


class Known:
    """What stands elsewhere in the context. Belongs to one run of the summarizer; `seen` itself is never changed."""

    def __init__(self, seen: AbstractSet[str] | None, texts: Iterable[str] = ()) -> None:
        self._seen: AbstractSet[str] = frozenset() if seen is None else seen
        self._here: set[str] = set()
        for text in texts:
            self.learn(text)

    def learn(self, text: str) -> None:
        """From here on the words of this text are known."""
        self._here |= words_in(text)

    def __contains__(self, word: object) -> bool:
        return word in self._here or word in self._seen


@frozen
class Name:
    """A name, how often it occurs (damped), and the telling parts that a reader learns with it."""

    text: str
    weight: float
    parts: tuple[str, ...]

    def worth(self, covered: AbstractSet[str] = frozenset()) -> float:
        """What it tells per character to a reader who knows the covered words."""
        news = 1 + sum(part not in covered for part in self.parts) if self.parts else 1
        return self.weight * news / (len(self.text) + 2)


def new_names(text: str, known: Known) -> list[Name]:
    """The names of a text that are not known, in the order in which they appear."""
    counts = Counter(_LONG_TOKEN.findall(text))
    common = counts.most_common() if len(counts) > _MAX_DISTINCT else list(counts.items())
    names: dict[str, Name] = {}
    for token, count in common[:_MAX_DISTINCT]:
        if token.isalpha() and not _is_camel(token):
            continue
        name = _bare(token)
        if name in names or not _MIN_CHARS <= len(name) <= _MAX_CHARS or name in known or not _tells(name):
            continue
        weight = 1 + math.log(count)
        if name[0].isdigit():
            weight *= _MEASURE_VALUE if _MEASURE.match(name) else _NUMBER_VALUE if _NUMBER.match(name) else 1
        shown = "/" + name if token[0] == "/" and "/" in name else name
        names[name] = Name(shown, weight, _new_parts(name, known))
    return list(names.values())


def _bare(token: str) -> str:
    """The token without the punctuation around it, and without the line number of a search tool."""
    if "-" in token and len(token) < 2 * _MAX_CHARS:
        context_line = _CONTEXT_LINE.match(token)
        if context_line:
            token = context_line[1] or token[context_line.end() :]
    return token.strip(_EDGES)


def _tells(word: str) -> bool:
    """Whether a word looks like a name, not like prose. Asked for every word, so the cheap questions come first."""
    return not word.isalpha() or _is_camel(word)


def _is_camel(word: str) -> bool:
    return not word[1:].islower() and _CAMEL.search(word) is not None


def _new_parts(name: str, known: Known) -> tuple[str, ...]:
    if name.isidentifier():
        return ()
    return tuple(part for part in _PART.findall(name) if _tells(part) and part not in known)


def index_of(names: Iterable[Name], limit: int) -> str:
    """The names that tell most in `limit` characters, the most telling first, and how many are left out."""
    # Worth only falls while others are chosen, so what is best after being weighed again is best of all.
    waiting = [(-name.worth(), order, name) for order, name in enumerate(names)]
    heapify(waiting)
    chosen: list[str] = []
    covered: set[str] = set()
    left_out = 0
    room = limit - _MORE_CHARS
    while waiting:
        value, order, name = heappop(waiting)
        bare = name.text.strip(_EDGES)
        if bare in covered:
            continue
        if len(name.text) + 1 > room:
            left_out += 1
            continue
        worth = -name.worth(covered)
        if worth > value:
            heappush(waiting, (worth, order, name))
            continue
        chosen.append(name.text)
        room -= len(name.text) + 1
        covered.add(bare)
        covered.update(name.parts)
    if not chosen:
        return ""
    return " ".join(chosen) + (f" (+{left_out})" if left_out else "")
