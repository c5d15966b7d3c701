"""What the client was shown last: enough to say where the next view first differs from it."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.view import Element, View
from condense_grpc.engine.requests import CacheReport
from condense_grpc.engine.transcript import Transcript


@frozen
class ShownView:
    """The elements of a view by what they show (`marks`), with their sizes."""

    marks: Sequence[int]
    chars: Sequence[int]

    def changes_to(self, later: "ShownView") -> CacheReport:
        """Where a later view differs. A longer one that begins with this one breaks no cache."""
        common = 0
        for mine, theirs in zip(self.marks, later.marks, strict=False):
            if mine != theirs:
                break
            common += 1
        return CacheReport(common, sum(self.chars[:common]), common < len(self.marks))


@frozen
class ShownAt:
    """Where transcript and decisions stood when a view was shown.

    `is_plain`: the transcript was shown as it is. `config_json`: the settings, if they have changed since.
    """

    length: int
    node: int
    commit: int
    is_plain: bool
    config_json: str = ""

    def written_down(self) -> dict[str, Any]:
        """Its members by name. `asdict` looks into each of them, which takes ten times as long."""
        return {name: getattr(self, name) for name in _SHOWN_AT}


_SHOWN_AT = tuple(field.name for field in fields(ShownAt))


def shown_view(view: View, digests: Sequence[bytes | str]) -> ShownView:
    """The marks of a view. `digests` name the content of each position of the rendered list."""
    marks = tuple(mark_of(element, digests[element.position]) for element in view.elements)
    return ShownView(marks, tuple(element.json_chars for element in view.elements))


def plain_view(transcript: Transcript) -> ShownView:
    """The marks of a transcript that is shown as it is."""
    marks = tuple(map(plain_mark, transcript.digests))
    return ShownView(marks, tuple(skeleton.json_chars for skeleton in transcript.skeletons))


def mark_of(element: Element, content: bytes | str) -> int:
    """What an element shows. `content` names what it stands for; it does not count for a block."""
    if element.block is not None:
        return hash((element.block.text, element.block.entry.compressed_at_ms, element.block.parts))
    shown = element.stub.text if element.stub else ""
    return hash((content, shown, element.stripped, tuple(sorted(element.purged.items()))))


def plain_mark(digest: bytes) -> int:
    """What a message shows that is not edited."""
    return hash((digest, "", False, ()))
