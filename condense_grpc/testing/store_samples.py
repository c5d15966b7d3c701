"""Sessions, messages, commits and diagnostics to test a store with, and ids that are easily taken for each other."""

import unicodedata
import uuid
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from condense_grpc.engine.ports import SessionRow, Store, StoredCommit, StoredDiagnostic, StoredMessage

EVERY_BYTE = bytes(range(256))
BODIES = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(str.encode),
    st.builds(bytes.__mul__, st.binary(min_size=1, max_size=20), st.integers(0, 2000)),
)
CONFUSABLE_IDS = (
    *("a", "A", "a ", " a", "ä", "Ä", "a.", "a/", "a\\", "../a", "a%", "a_", "_", "%", "*", "'", '"', "a'--", "a;"),
    *(unicodedata.normalize(form, "é") for form in ("NFC", "NFD")),
    *("ﬁ", "fi", "ß", "ss", "İ", "i̇", "ı", "\u200ba", "\u2028", "\ufeffa", "\uffff", "\U0001f600", "\U0010ffff"),
    *("1", "01", "1.0", "1e0", "null", "None", "t1", "a@5", "٣", "3"),
)


def new_id(prefix: str = "") -> str:
    """An id that no other test uses."""
    return prefix + uuid.uuid4().hex


def row_of(session_id: str, **values: object) -> SessionRow:
    """A row with times."""
    return replace(SessionRow(session_id, create_time_ms=1_000, update_time_ms=2_000), **values)  # type: ignore[arg-type]


def message(node: int, body: bytes = b"body") -> StoredMessage:
    """A message on a path without branches."""
    return StoredMessage(node, node - 1, node - 1, b"digest\x00%d" % node, 10 * node, b"skeleton\x00%d" % node, body)


def commit(number: int) -> StoredCommit:
    """A commit on a path without branches."""
    return StoredCommit(number, number - 1, number, number, 100 * number, b"entries\x00%d" % number)


def diagnostic(number: int) -> StoredDiagnostic:
    """A diagnostic."""
    return StoredDiagnostic(number, 100 * number, "kind", f"détail {number}")


def without_body(messages: Sequence[StoredMessage]) -> list[StoredMessage]:
    """Messages as they are loaded."""
    return [one._replace(body=b"") for one in messages]


async def nodes_of(store: Store, session_id: str) -> list[int]:
    """The nodes of a session that exists."""
    loaded = await store.load(session_id)
    assert loaded is not None
    return [one.node for one in loaded.messages]
