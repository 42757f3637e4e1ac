"""The explorer's program for browsers: `make explorer` makes it from the modules in ``web/``.

Scripts come before the module, and leave it what not every page needs: what shows space, what asks for more.
"""

import base64
import hashlib
from importlib.resources import files

BUNDLE, LIVE, SPACE = "bundle/explorer.js", "bundle/live.js", "bundle/space.js"


def program(*, live: bool = False, space: bool = False) -> str:
    """Return the source of the module: its default export is what notebooks want.

    Parameters
    ----------
    live : bool
        Whether there is somebody to ask: with the panels that a snapshot does without.
    space : bool
        Whether it begins with what shows space.
    """
    names = (SPACE,) * space + (LIVE,) * live + (BUNDLE,)
    return "\n".join((files("reluscope.explorer") / name).read_text(encoding="utf-8") for name in names)


def fingerprint(source: str) -> str:
    """Return what a content security policy calls a script that lies in a page.

    Examples
    --------
    >>> fingerprint("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
