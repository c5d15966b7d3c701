"""A diagnostic tells how long the transcript was."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
COLUMNS = ("session_key", "number", "time_ms", "kind", "detail")


def _length() -> "sa.Column[int]":
    return sa.Column("transcript_length", NUMBER, nullable=False, server_default="0")


def upgrade() -> None:
    """Add the column. SQLite would note it apart from the others, so that the table is made again there."""
    if op.get_bind().dialect.name != "sqlite":
        op.add_column("diagnostics", _length())
        return
    op.rename_table("diagnostics", "diagnostics_before")
    op.create_table(
        "diagnostics",
        sa.Column("session_key", NUMBER, sa.ForeignKey("sessions.key", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("time_ms", NUMBER, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        _length(),
    )
    listed = ", ".join(COLUMNS)
    op.execute(f"INSERT INTO diagnostics ({listed}) SELECT {listed} FROM diagnostics_before")
    op.drop_table("diagnostics_before")
