"""The explorer's program for browsers: `make explorer` makes it from the modules in ``web/``.

Where there are three inputs a script comes before the module, and leaves it what shows space.
"""

import base64
import hashlib
from importlib.resources import files

BUNDLE, SPACE = "bundle/explorer.js", "bundle/space.js"


def program(*, space: bool = False) -> str:
    """Return the source of the module: its default export is what notebooks want.

    Parameters
    ----------
    space : bool
        Whether it begins with what shows space, for networks of three inputs.
    """
    names = (SPACE, BUNDLE) if space else (BUNDLE,)
    return "\n".join((files("reluscope.explorer") / name).read_text(encoding="utf-8") for name in names)


def fingerprint(source: str) -> str:
    """Return what a content security policy calls a script that lies in a page.

    Examples
    --------
    >>> fingerprint("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
