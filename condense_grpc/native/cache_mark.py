"""The mark by which hosts ask the provider to cache everything up to a place: `cache_control` on a part.

It says how to send a history, not what is in it. A stub that takes the place of a marked part takes its mark as well,
or the provider would no longer find there what it has cached.
"""

from condense_grpc.native.json_edit import member_text, with_member, written
from condense_grpc.native.json_scan import items_at

MARK = "cache_control"


def stub_content(content: str | None, text: str) -> str:
    """A content that says `text`, in the form of the one before: a text, or a list of one with its last mark."""
    if content is None or not content.startswith("["):
        return written(text)
    parts = [content[place.start : place.end] for place in items_at(content)]
    marks = [mark for part in parts if part.startswith("{") and (mark := member_text(part, MARK)) is not None]
    part = written({"type": "text", "text": text})
    return f"[{with_member(part, MARK, marks[-1]) if marks else part}]"
