"""Animations as GIF or MP4 files, written whole or not at all."""

import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.animation import Animation, FFMpegWriter, PillowWriter
from PIL import Image

from reluscope.arguments import Count, read_drawn
from reluscope.errors import InputError, ReluscopeError
from reluscope.files.whole_files import write_files
from reluscope.progress import Progress, share_done

DPI = 80
KINDS = {".gif": "an animated picture", ".mp4": "a video"}
# A GIF has 256 colours per frame, of which one stands for what did not change.
GIF_COLORS = 255


@read_drawn
def save_animation(
    animation: Animation, path: "str | PathLike[str]", *, dpi: Count = DPI, progress: Progress = False
) -> None:
    """Write an animation to a file.

    Parameters
    ----------
    animation : matplotlib.animation.Animation
        For instance from `reluscope.plots.animation`.
    path : path
        Ends in ``.gif``, or in ``.mp4``, whose encoder ``pip install "reluscope[video]"`` installs.
    dpi : int
        Pixels per inch.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.

    Raises
    ------
    InputError
        If the suffix is neither, or the file cannot be written; an existing file then stays.
    ReluscopeError
        If there is no encoder for MP4.

    Notes
    -----
    GIF viewers show a frame for a multiple of 10 ms. Consecutive frames with identical pixels become one longer
    frame.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> film = rs.plots.animation([rs.partition(net, rs.Box(-1, 1, 2))])
    >>> path = Path(tempfile.mkdtemp()) / "film.gif"
    >>> rs.plots.save_animation(film, path)
    >>> path.read_bytes()[:6]
    b'GIF89a'
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in KINDS:
        known = " or ".join(f"{one} ({what})" for one, what in KINDS.items())
        raise InputError(f"expected a name that ends in {known}, got {target.name}")
    if not target.absolute().parent.is_dir():
        raise InputError(f"could not write {target}: there is no folder {target.parent}")
    content = _encoded(animation, suffix, dpi, progress)
    write_files({target: content})


@read_drawn
def to_gif(animation: Animation, *, dpi: Count = DPI, progress: Progress = False) -> bytes:
    """Return an animation as GIF.

    Parameters
    ----------
    animation, dpi, progress
        As for `save_animation`.
    """
    return _encoded(animation, ".gif", dpi, progress)


class _GifWriter(PillowWriter):
    """Keeps frames in 256 colours each, a quarter of the memory of true colours."""

    def grab_frame(self, **options: object) -> None:
        super().grab_frame(**options)
        self._frames: list[Image.Image]
        self._frames[-1] = self._frames[-1].convert("RGB").quantize(GIF_COLORS, dither=Image.Dither.NONE)

    def finish(self) -> None:
        if self._frames:  # none if drawing the first one failed, which is to be told instead
            super().finish()


def _encoded(animation: Animation, suffix: str, dpi: int, progress: Progress) -> bytes:
    """Return the content of the file; encoders want a place on disk to write to."""
    settings: dict[Any, Any] = {"animation.ffmpeg_path": _ffmpeg()} if suffix == ".mp4" else {}
    # As matplotlib has it, which takes any number: films have an interval, other animations may not.
    fps: Any = 1000.0 / getattr(animation, "_interval", 100.0)
    with tempfile.TemporaryDirectory() as folder, rc_context(settings):
        file = Path(folder) / f"film{suffix}"
        writer = _GifWriter(fps=fps) if suffix == ".gif" else FFMpegWriter(fps=fps, codec="h264")
        with share_done("animation", progress) as tell:
            # Told before a frame is drawn; of some animations nobody knows how many frames there are.
            animation.save(
                file, writer=writer, dpi=dpi, progress_callback=lambda frame, frames: tell(frame / max(1, frames or 1))
            )
        return file.read_bytes()


def _ffmpeg() -> str:
    try:
        import imageio_ffmpeg  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ReluscopeError(
            'expected imageio-ffmpeg for MP4 files, and it is not installed: run pip install "reluscope[video]", or '
            "write a .gif"
        ) from error
    return imageio_ffmpeg.get_ffmpeg_exe()
