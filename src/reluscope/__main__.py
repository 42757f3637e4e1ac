"""``python -m reluscope`` is the command ``reluscope``."""

from reluscope.cli import main

if __name__ == "__main__":
    main()
