"""The view of a live session, kept up to date by what changes instead of being planned anew for every turn."""
