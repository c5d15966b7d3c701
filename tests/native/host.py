"""A host with a history in its provider's shape: it sends texts, and makes of the answer what any client would."""

import json
from collections.abc import Sequence
from typing import Any

from condense_grpc.domain.edits import Drop, MoveAfter
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.requests import Delta, NativeElements, PruneRequest, PruneResult, ViewKind
from condense_grpc.native.changes import Inserted, NativeEdit
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_read import read_elements


def array(texts: Sequence[str], between: str = ",") -> bytes:
    return f"[{between.join(texts)}]".encode()


def shown(texts: Sequence[str], edits: Sequence[NativeEdit]) -> str:
    """The view, made as the contract tells clients to, on nothing but texts."""
    elements, absent = list(texts), set()
    behind: dict[int, list[str | int]] = {}
    for edit in edits:
        if edit.native_json:
            elements[edit.message_index] = edit.native_json
        if edit.part_index is not None:
            continue
        match edit.change:
            case Drop():
                absent.add(edit.message_index)
            case Inserted():
                behind.setdefault(edit.message_index, []).append(edit.inserted_json)
            case MoveAfter():
                absent.add(edit.message_index)
                behind.setdefault(edit.change.after_index, []).append(edit.message_index)
            case _:
                pass
    view: list[str] = []
    for index in range(-1, len(elements)):
        if index >= 0 and index not in absent:
            view.append(elements[index])
        view += [elements[item] if isinstance(item, int) else item for item in behind.get(index, ())]
    return f"[{','.join(view)}]"


class Host:
    """One session. `texts` is the history, one text for each element."""

    def __init__(self, engine: Engine, form: NativeFormat, name: str = "s") -> None:
        self.engine, self.form, self.name = engine, form, name
        self.texts: list[str] = []
        self.etag = ""
        self.renames = False
        self.echoed = False
        self.revision = ""
        self.edits: Sequence[NativeEdit] = ()

    def delta(self, texts: Sequence[str], base: int, etag: str = "", between: str = ",") -> Delta:
        elements = read_elements(array(texts, between))
        return Delta(base, etag, (), native=NativeElements(self.form, elements))

    async def send(
        self, texts: Sequence[str], base: int | None = None, *, between: str = ",", view: ViewKind = ViewKind.EDITS
    ) -> PruneResult:
        """Make the history the base (all of it, unless told) and these."""
        base = len(self.texts) if base is None else base
        etag = self.etag if base == len(self.texts) else ""
        delta = self.delta(texts, base, etag, between)
        result = await self.engine.prune(PruneRequest(self.name, delta, view, known_revision=self.revision))
        self.texts = [*self.texts[:base], *texts]
        self.took(result)
        return result

    async def prune(self, view: ViewKind = ViewKind.EDITS, **more: Any) -> PruneResult:
        result = await self.engine.prune(PruneRequest(self.name, None, view, known_revision=self.revision, **more))
        self.took(result)
        return result

    def took(self, result: PruneResult) -> None:
        assert result.length == len(self.texts)
        self.etag = result.etag
        assert result.native is not None
        if not result.unchanged:
            self.revision, self.edits = "", ()
        if result.native.edits or (not result.pruned and not result.native.json):
            self.revision, self.edits = result.revision, result.native.edits

    async def view(self) -> list[Any]:
        """The view by edits; also checks that the whole view is the same, to the byte."""
        if not self.texts:
            return []
        await self.prune()
        by_edits = shown(self.texts, self.edits)
        full = (await self.engine.prune(PruneRequest(self.name, None, ViewKind.FULL))).native
        assert full is not None
        assert full.json == by_edits
        view: list[Any] = json.loads(by_edits)
        return view
