"""The demonstration: a scripted agent with real tools over a real folder, against a real server process."""
