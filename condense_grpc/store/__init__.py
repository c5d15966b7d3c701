"""Durable storage of sessions: in memory and over SQL, behind the engine's Store port."""
