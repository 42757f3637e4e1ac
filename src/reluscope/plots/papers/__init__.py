"""Pictures that papers print."""
