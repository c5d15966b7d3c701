"""Bringing a database to the newest schema, in the caller's transaction: all the way, or it stays as it was."""

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from condense_grpc.store.errors import StoreForeign, StoreTooNew

# Any number will do as long as it stays: processes that open one PostgreSQL database at once take turns by it.
TURN = 0x636F6E64


def migrate(connection: Connection) -> None:
    """Run the steps that are missing. Raises StoreTooNew and StoreForeign before anything is changed."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": TURN})
    config = Config()
    config.set_main_option("script_location", "condense_grpc.store:migrations")
    config.attributes["connection"] = connection
    script = ScriptDirectory.from_config(config)
    found = set(MigrationContext.configure(connection).get_current_heads())
    if found - {step.revision for step in script.walk_revisions()}:
        raise StoreTooNew
    if not found and inspect(connection).get_table_names():
        raise StoreForeign
    if found != set(script.get_heads()):
        command.upgrade(config, "head")
