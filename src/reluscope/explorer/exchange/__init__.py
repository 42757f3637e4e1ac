"""Questions and answers on their way: fields that are checked, progress, bytes."""
