"""What the Gemini API refuses in `contents`.

Signatures are demanded only where the model gives any: then the first call of each step since the user has spoken
must carry one.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from condense_grpc.domain.pi_json import text_or_empty
from condense_grpc.domain.validity import Violation, ViolationKind
from condense_grpc.native.fields import first_text, objects_in
from condense_grpc.native.gemini import CALL, RESPONSE, SIGNATURE, member_of
from condense_grpc.native.validity_turns import Defects, Json, Scope, is_blank_text


def gemini_defects(elements: Iterable[Json], scope: Scope) -> list[Violation]:
    """See Validator."""
    defects, signatures, calls = Defects(scope), _Signatures(), _Calls()
    for position, content in enumerate(elements):
        role, parts = text_or_empty(content.get("role")), objects_in(content.get("parts"))
        _check_parts(defects, position, content, parts)
        if role == "model":
            _check_model(defects, position, parts, calls)
            signatures.model_speaks(position, parts)
        elif role in ("user", "function", "tool", ""):
            _check_user(defects, position, parts, calls)
            if any(member_of(part, RESPONSE) is None for part in parts):
                signatures.user_speaks()
        else:
            defects.is_no_side(position)
    for position in signatures.missing():
        defects.add(ViolationKind.BROKEN_REASONING, position, what="the first call has no thought signature")
    return defects.finished()


class _Signatures:
    """The steps of the model since the user has spoken, with whether they are signed."""

    def __init__(self) -> None:
        self._are_used = False
        self._unsigned: list[int] = []

    def user_speaks(self) -> None:
        self._unsigned = []

    def model_speaks(self, position: int, parts: list[Json]) -> None:
        calls = [part for part in parts if member_of(part, CALL)]
        self._are_used |= any(first_text(part, SIGNATURE) for part in calls)
        if calls and not first_text(calls[0], SIGNATURE):
            self._unsigned.append(position)

    def missing(self) -> list[int]:
        return self._unsigned if self._are_used else []


class _Calls:
    """The open calls of the latest element of the model. Without ids calls are known by their function, in order."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []

    def ask(self, calls: Iterable[Json]) -> list[str]:
        """What calls are known by."""
        self._open = [
            (text_or_empty(call.get("id")) or _by_name(call), text_or_empty(call.get("name"))) for call in calls
        ]
        return [identity for identity, _ in self._open]

    def answer(self, response: Json) -> str:
        """What the call is known by that a response belongs to; one without id may belong to a call that has one."""
        identity, name = text_or_empty(response.get("id")), text_or_empty(response.get("name"))
        if not identity:
            found = [known for known, called in self._open if called == name]
            identity = _by_name(response) if _by_name(response) in found or not found else found[0]
        answered = next((call for call in self._open if call[0] == identity), None)
        if answered is not None:
            self._open.remove(answered)
        return identity


def _by_name(call: Json) -> str:
    return f"{call.get('name')}()"


def _check_parts(defects: Defects, position: int, content: Json, parts: list[Json]) -> None:
    given: Any = content.get("parts")
    if not isinstance(given, list) or len(parts) != len(given):
        defects.add(ViolationKind.MALFORMED, position, what="parts has to be a list of objects")
    is_empty = [set(part) <= {"thought"} or _is_empty_text(part) for part in parts]
    if given == [] or any(is_empty):
        defects.add(ViolationKind.EMPTY_CONTENT, position)


def _is_empty_text(part: Json) -> bool:
    return "text" in part and is_blank_text(part["text"]) and not first_text(part, SIGNATURE)


def _check_model(defects: Defects, position: int, parts: list[Json], open_calls: _Calls) -> None:
    calls = [call for part in parts if (call := member_of(part, CALL)) is not None]
    defects.speaks(position, "model", begins=False, waits=bool(calls))
    ids = open_calls.ask(calls)
    defects.asks(position, ids, repeatable=[call_id for call_id in ids if call_id.endswith("()")])
    _check_side(defects, position, parts, RESPONSE)
    for call in calls:
        if is_blank_text(call.get("name")) or not isinstance(call.get("args", {}), dict):
            what = "a call has to have a name, and an object as its arguments"
            defects.add(ViolationKind.MALFORMED, position, text_or_empty(call.get("id")), what)


def _check_user(defects: Defects, position: int, parts: list[Json], calls: _Calls) -> None:
    defects.speaks(position, "user", begins=True)
    _check_side(defects, position, parts, CALL)
    for part in parts:
        response = member_of(part, RESPONSE)
        if response is None:
            defects.interrupts()
            continue
        if not isinstance(response.get("response"), dict):
            defects.add(ViolationKind.MALFORMED, position, what="a response has to be an object")
        defects.answers(position, calls.answer(response))


def _check_side(defects: Defects, position: int, parts: list[Json], elsewhere: Sequence[str]) -> None:
    for part in parts:
        if member_of(part, elsewhere) is not None:
            defects.add(ViolationKind.MALFORMED, position, what=f"{elsewhere[0]} is of the other side")
