"""The tables, as the newest migration leaves them (a test holds both equal).

A session's id appears once; every other row names the session by an integer, so that ids of a kilobyte cost nothing.
Skeletons and bodies are in separate tables: a session is loaded by one range scan over small rows, stored in the
order in which they are read, and that scan never touches a page with a body on it. Rows with a body would be slow to
keep in key order, so those have a separate key. Deleting the session row removes everything.
"""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData()

# SQLite numbers rows by itself only if the type is INTEGER; all of its integers have 64 bits.
Number = BigInteger().with_variant(Integer, "sqlite")
# Code point order: SQLite compares UTF-8 bytes anyway, PostgreSQL by the rules of a language unless told.
Opaque = Text().with_variant(Text(collation="C"), "postgresql")


def _session_key() -> Column[int]:
    return Column("session_key", Number, ForeignKey("sessions.key", ondelete="CASCADE"), primary_key=True)


sessions = Table(
    "sessions",
    metadata,
    Column("key", Number, primary_key=True),
    Column("session_id", Opaque, nullable=False, unique=True),
    Column("create_time_ms", Number, nullable=False),
    Column("update_time_ms", Number, nullable=False),
    Column("version", Number, nullable=False),
    Column("head_node", Number, nullable=False),
    Column("head_commit", Number, nullable=False),
    Column("length", Number, nullable=False),
    Column("labels_json", Text, nullable=False),
    Column("config_json", Text, nullable=False),
    Column("create_request_id", Text, nullable=False),
    Column("facts_json", Text, nullable=False),
)

# An index over `sessions.labels_json`, which is what a row is read from.
labels = Table(
    "labels",
    metadata,
    _session_key(),
    Column("name", Opaque, primary_key=True),
    Column("value", Opaque, nullable=False),
    Index("labels_by_name", "name", "value", "session_key"),
    sqlite_with_rowid=False,
)

messages = Table(
    "messages",
    metadata,
    _session_key(),
    Column("node", Number, primary_key=True),
    Column("parent", Number, nullable=False),
    Column("position", Number, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("timestamp_ms", Number, nullable=False),
    Column("skeleton", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

bodies = Table(
    "bodies",
    metadata,
    _session_key(),
    Column("node", Number, primary_key=True),
    Column("packed", LargeBinary, nullable=False),
)

commits = Table(
    "commits",
    metadata,
    _session_key(),
    Column("number", Number, primary_key=True),
    Column("parent", Number, nullable=False),
    Column("anchor_node", Number, nullable=False),
    Column("anchor_length", Number, nullable=False),
    Column("time_ms", Number, nullable=False),
    Column("entries", LargeBinary, nullable=False),
)

diagnostics = Table(
    "diagnostics",
    metadata,
    _session_key(),
    Column("number", Number, primary_key=True),
    Column("time_ms", Number, nullable=False),
    Column("kind", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("transcript_length", Number, nullable=False, server_default="0"),
)
