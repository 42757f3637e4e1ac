"""Which regions exist where rounding leaves signs undecided."""
