"""The replay of recorded sessions: each one is sent as its host would have sent it, and everything is checked."""
