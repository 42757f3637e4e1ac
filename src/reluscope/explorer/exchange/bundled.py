"""The explorer's program for browsers: `make explorer` makes it from the modules in ``web/``.

Scripts come before the module, and leave it what not every page needs: what shows space, what asks for more.
"""

import base64
import hashlib
from importlib.resources import files

BUNDLE, LIVE, SPACE = "bundle/explorer.js", "bundle/live.js", "bundle/space.js"
LEARN = "bundle/learn.js"


def program(*, live: bool = False, space: bool = False, learn: bool = False) -> str:
    """Return the source of the explorer's module, whose default export is what notebooks want.

    `live` adds the panels that need answers, which a snapshot does without; `space` begins with what shows space,
    `learn` with the panel of a lesson.
    """
    names = (SPACE,) * space + (LEARN,) * learn + (LIVE,) * live + (BUNDLE,)
    return "\n".join((files("reluscope.explorer") / name).read_text(encoding="utf-8") for name in names)


def fingerprint(source: str) -> str:
    """Return the name that a content security policy gives to a script within a page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
