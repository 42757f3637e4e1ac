"""Figures, films and explorers of scripts in the gallery, and the picture that a page of the guide starts with.

The pictures of reluscope are figures that no window knows; a script has them as its last expression or under a name.
"""

import re
from hashlib import md5
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib.pyplot as plt
from first_pictures import FIRST_PICTURES
from matplotlib.animation import FuncAnimation
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

import reluscope as rs
from reluscope.explorer.explorer import Explorer

DPI = 160


class FigureScraper:
    """Saves the figures that a block of a script has made, those of pyplot and those that no window knows."""

    def __repr__(self) -> str:
        return "FigureScraper()"

    def __call__(self, block: tuple, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        """Return the reStructuredText that shows the new figures."""
        names = block_vars["example_globals"]
        of_pyplot = [plt.figure(number) for number in plt.get_fignums()]
        shown = matplotlib_scraper(block, block_vars, gallery_conf, dpi=DPI, facecolor="white")
        seen = names.setdefault("_figures_seen", [])
        seen.extend(of_pyplot)
        paths = []
        for value in list(names.values()):
            if isinstance(value, Figure) and not any(value is one for one in seen):
                seen.append(value)
                paths.append(next(block_vars["image_path_iterator"]))
                value.savefig(paths[-1], dpi=DPI, facecolor="white")
            if isinstance(value, FuncAnimation) and not any(value is one for one in seen):
                # The first frame is what the gallery shows of it.
                seen += [value, value._fig]
                first = Path(next(block_vars["image_path_iterator"]))
                value._fig.savefig(first, dpi=DPI, facecolor="white")
                paths.append(str(first.with_suffix(".gif")))
                rs.plots.save_animation(value, paths[-1])
            if isinstance(value, Explorer) and not any(value is one for one in seen):
                seen.append(value)
                shown += framed(value)
        title = title_of(Path(block_vars["src_file"]))
        return shown + "".join(figure_rst([path], gallery_conf["src_dir"], title) for path in paths)


def framed(explorer: Explorer) -> str:
    """Return the reStructuredText of a snapshot, in a frame that can reach nothing around it."""
    with TemporaryDirectory() as folder:
        page = explorer.snapshot(Path(folder, "snapshot.html")).read_text(encoding="utf-8")
    source = escape(page).replace("\n", "&#10;")
    frame = f'<iframe class="explorer" sandbox="allow-scripts" title="explorer" srcdoc="{source}"></iframe>'
    return f"\n.. raw:: html\n\n    {frame}\n\n"


class ToldWhere:
    """What scripts are called with: those of ``examples/`` are told where to write their picture."""

    def __repr__(self) -> str:
        return "ToldWhere()"

    def __call__(self, gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
        """Return the arguments of a script, which runs in its own folder."""
        return ["-o", "../docs/_build/pictures"] if Path(script_vars["src_file"]).parent.name == "examples" else []


def planes_first(name: str) -> tuple[bool, str]:
    """Return by what scripts are sorted: what reluscope is known for comes first."""
    return not name.startswith("plane_"), name


def title_of(script: Path) -> str:
    """Return the title of a script, its first line."""
    return script.read_text(encoding="utf-8").removeprefix('"""').partition("\n")[0]


def begin_with_picture(app: Sphinx, name: str, content: list[str]) -> None:
    """Put the picture of a page of the guide below its title, with a link to the lines that draw it."""
    script = FIRST_PICTURES.get(name)
    if script is None:
        return
    title = title_of(Path(app.srcdir, "gallery", f"{script}.py"))
    lines = [
        f":::{{figure}} {_image(script, '001')}",
        f":alt: {title}",
        f":target: auto/gallery/{script}.html",
        ":figclass: first-picture",
        "",
        f"{title}: [the lines that draw it](auto/gallery/{script}.rst).",
        ":::",
    ]
    content[0] = re.sub(r"\A(# .*\n)", lambda match: match[1] + "\n" + "\n".join(lines) + "\n", content[0])


def _image(script: str, which: str) -> str:
    """Return where the gallery keeps a picture of a script, or its thumbnail."""
    section, name = script.split("/")
    folder = "images/thumb" if which == "thumb" else "images"
    return f"auto/gallery/{section}/{folder}/sphx_glr_{name}_{which}.png"


def picture_cards(app: Sphinx, name: str, content: list[str]) -> None:
    """Give each card of the guide the picture that its page starts with."""
    if name != "guide":
        return
    content[0] = re.sub(r"^:link: (\w[\w-]*)\n", _with_picture, content[0], flags=re.MULTILINE)


def _with_picture(link: re.Match[str]) -> str:
    script = FIRST_PICTURES.get(link[1])
    return link[0] if script is None else f"{link[0]}:img-top: {_image(script, 'thumb')}\n"


def forget_pictures(app: Sphinx) -> None:
    """Have scripts run again when the library has changed, and not only when they have."""
    library = Path(rs.__file__).parent
    sources = sorted(
        path for path in library.rglob("*") if path.suffix in {".py", ".js", ".so", ".pyd", ".safetensors"}
    )
    state = md5(b"".join(md5(path.read_bytes()).digest() for path in sources)).hexdigest()
    made, stamp = Path(app.srcdir, "auto"), Path(app.srcdir, "auto", ".library")
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != state:
        for path in made.rglob("*.md5"):
            path.unlink()
        made.mkdir(exist_ok=True)
        stamp.write_text(state, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Forget pictures before the gallery is made, and place them as pages are read."""
    app.connect("config-inited", lambda app, config: forget_pictures(app))
    app.connect("source-read", begin_with_picture)
    app.connect("source-read", picture_cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
