"""The garbage collector's thresholds, tuned for many small objects that live long.

Sessions in memory are hundreds of thousands of objects in which there are no cycles. With the interpreter's own
thresholds the collector walks through all of them again and again while a session is loaded, which then takes twice
as long, and every other session waits. What does form cycles (exceptions, tasks) is little: it can wait.
"""

import gc

_YOUNG_OBJECTS = 100_000
_MIDDLE_PASSES = 20
_OLD_PASSES = 50


def tune_collector() -> None:
    """Set the thresholds, and take what is there by now (modules, generated code) out of every later pass."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _MIDDLE_PASSES, _OLD_PASSES)
