"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
OPAQUE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _number(name: str) -> "sa.Column[int]":
    return sa.Column(name, NUMBER, nullable=False)


def _text(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, nullable=False)


def _bytes(name: str) -> "sa.Column[bytes]":
    return sa.Column(name, sa.LargeBinary, nullable=False)


def _session_key() -> "sa.Column[int]":
    return sa.Column("session_key", NUMBER, sa.ForeignKey("sessions.key", ondelete="CASCADE"), primary_key=True)


def upgrade() -> None:
    """Make all tables."""
    _sessions()
    op.create_table(
        "messages",
        _session_key(),
        sa.Column("node", NUMBER, primary_key=True),
        *(_number(name) for name in ("parent", "position")),
        _bytes("digest"),
        _number("timestamp_ms"),
        _bytes("skeleton"),
        sqlite_with_rowid=False,
    )
    op.create_table("bodies", _session_key(), sa.Column("node", NUMBER, primary_key=True), _bytes("packed"))
    op.create_table(
        "commits",
        _session_key(),
        sa.Column("number", NUMBER, primary_key=True),
        *(_number(name) for name in ("parent", "anchor_node", "anchor_length", "time_ms")),
        _bytes("entries"),
    )
    op.create_table(
        "diagnostics",
        _session_key(),
        sa.Column("number", NUMBER, primary_key=True),
        _number("time_ms"),
        _text("kind"),
        _text("detail"),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("key", NUMBER, primary_key=True),
        sa.Column("session_id", OPAQUE, nullable=False, unique=True),
        *(_number(name) for name in ("create_time_ms", "update_time_ms", "version")),
        *(_number(name) for name in ("head_node", "head_commit", "length")),
        *(_text(name) for name in ("labels_json", "config_json", "create_request_id", "facts_json")),
    )
    op.create_table(
        "labels",
        _session_key(),
        sa.Column("name", OPAQUE, primary_key=True),
        sa.Column("value", OPAQUE, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("labels_by_name", "labels", ["name", "value", "session_key"])
