"""Images within pictures, with a palette where they have few colours: the same pixels in a fraction of the bytes.

Matplotlib writes four bytes for each pixel. Fields of flat colours, as classes or saliency maps are, have a few hundred
different ones at most; compressed, one byte that names a colour is a sixth of them.
"""

import io
import re
import struct
import zlib
from base64 import b64decode, b64encode

import numpy as np
from jaxtyping import UInt8
from matplotlib.image import imread
from PIL import Image

# Shorter ones are hardly worth the time; a palette holds so many colours.
MIN_LENGTH, MAX_COLORS = 20_000, 256


def with_palettes(svg: str, *, rounded: bool = False) -> str:
    """Return an SVG text with images written shorter.

    Those of few colours are pixel by pixel the same; the others stay, or, `rounded`, have near colours made one.
    """
    return re.sub(r'(data:image/png;base64,)([^"]+)', lambda found: found[1] + _shorter(found[2], rounded), svg)


def _shorter(text: str, rounded: bool) -> str:
    if len(text) < MIN_LENGTH and not rounded:
        return text
    written = _as_palette(np.rint(255 * imread(io.BytesIO(b64decode(text)), format="png")).astype(np.uint8))
    if written is None and rounded:
        written = _of_fewer_colors(b64decode(text))
    if written is None:
        return text
    shorter = b64encode(written).decode("ascii")
    return shorter if len(shorter) < len(text) else text


def _of_fewer_colors(file: bytes) -> bytes:
    """Return an image with a palette of the colours that stand best for its own."""
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(file)) as image:
        fewer = image.convert("RGBA").quantize(MAX_COLORS, method=Image.Quantize.FASTOCTREE)
    fewer.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _as_palette(pixels: UInt8[np.ndarray, "h w channels"]) -> bytes | None:
    """Return pixels as a PNG file with a palette, None if they have too many colours."""
    if pixels.ndim != 3 or pixels.shape[2] != 4:
        return None
    colors, which = np.unique(np.ascontiguousarray(pixels).view("<u4").reshape(-1), return_inverse=True)
    if len(colors) > MAX_COLORS:
        return None
    height, width = pixels.shape[:2]
    table = colors.astype("<u4").view(np.uint8).reshape(-1, 4)
    # Before each line stands which filter it went through: none.
    lines = np.zeros((height, width + 1), dtype=np.uint8)
    lines[:, 1:] = which.reshape(height, width)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", table[:, :3].tobytes()),
        (b"tRNS", table[:, 3].tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
