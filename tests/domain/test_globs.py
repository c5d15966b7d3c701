"""Globs: the same language as the plain reading of the rules, and never a second look at a character."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.globs import compile_glob, glob_matches

_PIECES = {"**/": "(?:[^/]*/)*", "**": "[^\n\r\u2028\u2029]*", "*": "[^/]*", "?": "[^/]"}


def as_expression(pattern: str) -> str:
    """The rules as a backtracking expression; fit for short patterns only."""
    tokens = re.findall(r"\*\*/|\*\*|[\s\S]", pattern)
    return "".join(_PIECES.get(token, re.escape(token)) for token in tokens)


@given(
    st.text(alphabet="*?/ab.\n", max_size=9),
    st.text(alphabet="/ab.\n\r\u2028", max_size=9),
)
def test_same_language_as_the_rules(pattern: str, text: str) -> None:
    assert glob_matches(pattern, text) == bool(re.fullmatch(as_expression(pattern), text))


class CountingDict(dict[str, int]):
    """Counts how often a character is looked up."""

    looks = 0

    def get(self, key: str, default: Any = None) -> Any:
        self.looks += 1
        return super().get(key, default)


@pytest.mark.parametrize("pattern", ["*a" * 200 + "b", "**/*a" * 200 + "b", "****/" * 200 + "b", "**" * 500 + "?"])
def test_every_character_is_looked_at_once(pattern: str) -> None:
    counting = CountingDict(compile_glob(pattern).literals)
    glob = replace(compile_glob(pattern), literals=counting)
    text = "a/" * 2000 + "/"
    glob.matches(text)
    assert counting.looks <= len(text)


def test_a_hopeless_text_is_left_early() -> None:
    counting = CountingDict(compile_glob("src/*.py").literals)
    replace(compile_glob("src/*.py"), literals=counting).matches("src/x/" + "x" * 1000 + ".py")
    assert counting.looks == 6


def test_a_text_with_another_beginning_or_end_is_not_looked_at() -> None:
    counting = CountingDict(compile_glob("src/*.py").literals)
    glob = replace(compile_glob("src/*.py"), literals=counting)
    assert not glob.matches("src/a.pyc") and not glob.matches("lib/a.py")
    assert counting.looks == 0
    assert glob.matches("src/a.py")


def test_beginning_and_end_do_not_share_characters() -> None:
    assert not glob_matches("a?a", "aa")
    assert not glob_matches("ab*ba", "aba")
    assert glob_matches("ab*ba", "abba")


def test_lone_surrogates_match_themselves() -> None:
    assert glob_matches("?\ud800*", "a\ud800b")
