"""Pins: results that a client wants to see verbatim, whatever was decided about them.

A pin names one result by its key. One with a time to end goes on until somebody takes it away by an entry, so that a
view never changes by the mere passing of time: flushes and compactions ask which pins have ended and say so.
"""

from condense_grpc.domain.entries import PinEntry
from condense_grpc.domain.frozen import frozen


@frozen
class Pin:
    """One pin. `expires_ms` None: it does not end by itself."""

    expires_ms: int | None = None

    def has_ended(self, now_ms: int) -> bool:
        """Whether its time is over."""
        return self.expires_ms is not None and self.expires_ms <= now_ms


class PinBoard:
    """The pins of one session, owned by its index. Mutable and not thread-safe."""

    def __init__(self) -> None:
        self._pins: dict[str, Pin] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._pins

    def __bool__(self) -> bool:
        return bool(self._pins)

    def apply(self, entry: PinEntry) -> None:
        """Take in one decision; a later one about the same key stands in place of an earlier one."""
        for key in entry.keys:
            if entry.unpin:
                self._pins.pop(key, None)
            else:
                self._pins[key] = Pin(entry.expires_ms)

    def find(self, key: str) -> Pin | None:
        """The pin of a key, also one whose time is over as long as nobody has taken it away."""
        return self._pins.get(key)

    def holds(self, key: str, now_ms: int | None = None) -> bool:
        """Whether the key is pinned; with a time: and still will be when a flush starts then."""
        pin = self._pins.get(key)
        return pin is not None and (now_ms is None or not pin.has_ended(now_ms))

    def ended(self, now_ms: int) -> tuple[str, ...]:
        """The keys whose time is over."""
        return tuple(key for key, pin in self._pins.items() if pin.has_ended(now_ms))

    def changed_by(self, entry: PinEntry) -> tuple[str, ...]:
        """The keys about which the entry says something new, each once."""
        wanted = None if entry.unpin else Pin(entry.expires_ms)
        return tuple(key for key in dict.fromkeys(entry.keys) if self._pins.get(key) != wanted)
