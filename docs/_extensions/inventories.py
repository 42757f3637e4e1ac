"""Other projects' lists of names, for links to their documentation.

They are fetched once, where there is a network, and kept. A project whose list is
not there gets no links.
"""

import urllib.request
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

PROJECTS = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "matplotlib": "https://matplotlib.org/stable/",
    "torch": "https://docs.pytorch.org/docs/stable/",
    "networkx": "https://networkx.org/documentation/stable/",
}
PATIENCE = 5.0  # seconds


def fetch(app: Sphinx, config: Config) -> None:
    """Give intersphinx the lists that can be had, and stop asking at the first one that cannot."""
    folder = Path(app.doctreedir).parent / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    online = True
    for project, address in config.other_projects.items():
        kept = folder / f"{project}.inv"
        if not kept.exists() and online:
            try:
                with urllib.request.urlopen(f"{address}objects.inv", timeout=PATIENCE) as answer:
                    kept.write_bytes(answer.read())
            except OSError:
                online = False
        if kept.exists():
            config.intersphinx_mapping[project] = (address, str(kept))


def setup(app: Sphinx) -> dict[str, bool]:
    """Fetch the lists before intersphinx reads its configuration."""
    app.add_config_value("other_projects", PROJECTS, "env")
    app.connect("config-inited", fetch, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
