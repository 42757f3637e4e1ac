"""Standard output and error, options that all commands share, files that they write, and how they end."""

import time

# When the program began, near enough: what commands say they took counts their imports.
BEGAN = time.perf_counter()
