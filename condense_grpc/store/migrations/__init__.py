"""Migrations of the schema. They travel in the wheel and are run when a store is opened."""
