"""The colours of everything that is drawn, on paper and in browsers, without anything that draws."""

INK = "#1b1f24"
DARK = "#14181d"
LIGHT = "#ffffff"
NEUTRAL = "#e3e5e8"

# Six of Okabe and Ito, and four that differ from these and from each other also for colour-blind readers.
CATEGORIES = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#9D4F28",
    "#7642EB",
    "#90C483",
    "#AAAA4F",
)
# The share of a category's colour in an area of it.
TINT = 0.62


def mixed_with_white(color: str, share: float) -> str:
    """Return a colour ``#rrggbb`` mixed with white; share 1 is the colour itself."""
    parts = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return "#" + "".join(f"{round(255 * (share * part + 1.0 - share)):02x}" for part in parts)
