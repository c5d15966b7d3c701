"""A recorded session as its host holds it: in messages of the contract, or in the shape of a provider."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from condense_grpc.cli.replay.history import Measures, originals
from condense_grpc.client import PI, MessageAdapter, native
from condense_grpc.domain.messages import text_of
from condense_grpc.domain.numbers import token_estimate
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.validity import find_violations
from condense_grpc.native.formats import NativeFormat
from condense_grpc.testing.native_validator import new_native_defects, validate_native
from condense_grpc.testing.pi_conversion import converted
from condense_grpc.testing.validator import new_defects

Json = dict[str, Any]


class Shape(Protocol):
    """How one recorded session is sent, measured and checked."""

    @property
    def adapter(self) -> MessageAdapter[Any]:
        """What the client reads its objects with."""
        ...

    def history(self, length: int) -> list[Any]:
        """The host's list after so many recorded messages."""
        ...

    def tokens(self, elements: Sequence[Any]) -> int:
        """The token estimate of a list: characters of its compact JSON, divided by four."""
        ...

    def is_worse(self, raw: Sequence[Any], view: Sequence[Any]) -> bool:
        """Whether a view has a defect that its history has not."""
        ...

    def violations(self) -> int:
        """How many defects the whole history has."""
        ...

    def originals(self, keys_of: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """The text of every result by its key. `keys_of`: for each tool call id the keys that the server gave, in
        order; looked at where the host does not know them.
        """
        ...


class ContractShape:
    """Messages of the contract, made of Pi messages by the client."""

    adapter = PI

    def __init__(self, messages: Sequence[Json]) -> None:
        self._messages = messages
        self._measures = Measures()

    def history(self, length: int) -> list[Any]:
        """See Shape."""
        return list(self._messages[:length])

    def tokens(self, elements: Sequence[Any]) -> int:
        """See Shape."""
        return self._measures.tokens(elements)

    def is_worse(self, raw: Sequence[Any], view: Sequence[Any]) -> bool:
        """See Shape."""
        return bool(new_defects(self._measures.skeletons(raw), self._measures.skeletons(view)))

    def violations(self) -> int:
        """See Shape."""
        return len(find_violations(self._measures.skeletons(self._messages)))

    def originals(self, keys_of: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """See Shape. The host knows its times."""
        return originals(self._messages)


class NativeShape:
    """Elements of a provider's shape."""

    def __init__(self, messages: Sequence[Json], form: NativeFormat) -> None:
        self._messages = messages
        self._form = form
        self._groups = converted(messages, form)
        self._chars: dict[int, tuple[Any, int]] = {}
        self.adapter: MessageAdapter[Any] = native(form.value)

    def history(self, length: int) -> list[Any]:
        """See Shape."""
        return [element for group in self._groups[:length] for element in group]

    def tokens(self, elements: Sequence[Any]) -> int:
        """See Shape."""
        return token_estimate(sum(map(self._size, elements)) + len(elements) + 1 if elements else 2)

    def _size(self, element: Any) -> int:
        known = self._chars.get(id(element))
        if known is None:
            size = len(json.dumps(element, ensure_ascii=False, separators=(",", ":")))
            known = self._chars[id(element)] = (element, size)
        return known[1]

    def is_worse(self, raw: Sequence[Any], view: Sequence[Any]) -> bool:
        """See Shape. Judged as if it was sent now."""
        return bool(new_native_defects(self._form, raw, view))

    def violations(self) -> int:
        """See Shape."""
        return len(validate_native(self._form, self.history(len(self._messages))))

    def originals(self, keys_of: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """See Shape. The server gave the times: keys are found by the ids of calls, in order."""
        if self._form is NativeFormat.PI:
            return originals(self._messages)
        texts: dict[str, list[str]] = defaultdict(list)
        for value in self._messages:
            if value.get("role") == "toolResult":
                message = message_from_pi(value)
                texts[message.tool_call_id].append(text_of(message))
        found: dict[str, str] = {}
        for call_id, listed in texts.items():
            keys = keys_of.get(call_id, ())
            found |= {
                keys[number] if number < len(keys) else f"{call_id} (result {number + 1})": text
                for number, text in enumerate(listed)
            }
        return found


def shape_of(messages: Sequence[Json], form: NativeFormat | None) -> Shape:
    """The shape of a recorded session; None: messages of the contract."""
    return ContractShape(messages) if form is None else NativeShape(messages, form)
