"""The explorer's program for browsers, in one file: `make explorer` makes it from the modules in ``web/``."""

import base64
import hashlib
from importlib.resources import files

BUNDLE = "bundle/explorer.js"


def program() -> str:
    """Return the source of the module: its default export is what notebooks want."""
    return (files("reluscope.explorer") / BUNDLE).read_text(encoding="utf-8")


def fingerprint(source: str) -> str:
    """Return what a content security policy calls a script that lies in a page.

    Examples
    --------
    >>> fingerprint("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
