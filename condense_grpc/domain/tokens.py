"""How many tokens a text is, roughly: a quarter of its characters, but about one for each character of the scripts of
China, Japan and Korea.
"""

import re

from condense_grpc.domain.numbers import token_estimate

_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)


def wide_chars(text: str) -> int:
    """How many characters of these scripts a text has."""
    return 0 if text.isascii() else len(text) - len(_WIDE.sub("", text))


def estimated_tokens(chars: int, wide: int) -> int:
    """The tokens of a text of so many characters, `wide` of which belong to these scripts."""
    wide = min(wide, chars)
    return wide + token_estimate(chars - wide)
