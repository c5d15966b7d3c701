"""How many histories a property is tried on: few in every run, as many as the profile says in a thorough one."""

from hypothesis import settings


def examples(usual: int) -> int:
    """`usual`, unless the profile asks for more than hypothesis does by itself."""
    wanted = settings.default.max_examples if settings.default else 0
    return wanted if wanted > 100 else usual
