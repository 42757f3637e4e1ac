"""The drivers of long exact work: a walk over cells, tasks on executors, best-first branching."""
