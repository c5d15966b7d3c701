"""Strict validators of histories in the shapes of providers: what the real one would refuse.

The rules are those by which the server reports violations; see `condense_grpc.native.validity` and its neighbours.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from condense_grpc.domain.validity import Violation, ViolationKind
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_read import read_elements
from condense_grpc.native.validity import find_defects
from condense_grpc.native.validity_turns import Scope

History = Sequence[Mapping[str, Any]] | bytes | str


def validate_native(form: NativeFormat, history: History, *, is_request: bool = False) -> list[Violation]:
    """The defects of a history, given as elements or as JSON text; empty when its provider would take it.

    `is_request`: it is about to be sent, so that every call must be answered. Raises `JsonFault` for text that is no
    JSON array of objects.
    """
    return find_defects(form, _elements(history), Scope(is_request=is_request))


def new_native_defects(form: NativeFormat, raw: History, view: History) -> Counter[ViolationKind]:
    """The defects of a view, both judged as if they were sent now, that its history has not or that are repaired."""
    scope = Scope(is_request=True)
    known = Counter(one.kind for one in find_defects(form, _elements(raw), scope) if not one.is_repaired)
    return Counter(one.kind for one in find_defects(form, _elements(view), scope)) - known


def _elements(history: History) -> Sequence[Mapping[str, Any]]:
    if isinstance(history, bytes | str):
        data = history.encode() if isinstance(history, str) else history
        return [element.value for element in read_elements(data)]
    return history
