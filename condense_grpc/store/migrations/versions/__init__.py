"""One file per step. A step that has been released is never changed: the next one corrects it."""
