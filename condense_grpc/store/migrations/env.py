"""What Alembic runs: the steps, on the connection and in the transaction that the store has opened."""

from alembic import context

from condense_grpc.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
