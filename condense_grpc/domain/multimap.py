"""A map from one key to several values that costs little where nearly every key has just one."""

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

_Value = TypeVar("_Value")


class MultiMap(Generic[_Value]):
    """Values by key, in the order in which they were added. Not thread-safe."""

    def __init__(self) -> None:
        self._values: dict[str, _Value | list[_Value]] = {}

    def add(self, key: str, value: _Value) -> None:
        """Add a value behind those that the key has."""
        known = self._values.get(key)
        if known is None:
            self._values[key] = value
        elif isinstance(known, list):
            known.append(value)
        else:
            self._values[key] = [known, value]

    def add_to_all(self, keys: Iterable[str], value: _Value) -> None:
        """Add a value to several keys."""
        values = self._values
        for key in keys:
            if key in values:
                self.add(key, value)
            else:
                values[key] = value

    def get(self, key: str) -> Sequence[_Value]:
        """The values of a key; none for an unknown one. Not to be changed."""
        known = self._values.get(key)
        if known is None:
            return ()
        return known if isinstance(known, list) else (known,)

    def of_any(self, keys: Iterable[str]) -> set[_Value]:
        """The values of several keys."""
        values: list[Any] = [known for known in map(self._values.get, keys) if known is not None]
        if list in map(type, values):
            values = [one for known in values for one in (known if isinstance(known, list) else (known,))]
        return set(values)

    def __contains__(self, key: str) -> bool:
        return key in self._values
