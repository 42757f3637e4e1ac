// The planes that a picture is made of: the newest in front, and wider ones of the same kind behind it, which are seen
// for the time between a move and the next answer.
import { outlines } from "./outline.js";

const MOST_BEHIND = 3;
const MOST_PIECES_BEHIND = 300_000;
const FINEST_BEHIND = 1e-4; // beyond this share of its window the rounding of corners would be seen

/**
 * @param {(plane: object) => {colour(rgba: Uint8Array): void, passes: function, dispose(): void}} upload
 */
export function createStack(upload) {
  let front = null;
  let coming = null;
  let behind = [];

  /** Upload a plane that comes to the front with its colours. */
  function add(plane) {
    if (coming) release(coming);
    coming = { plane, colours: null, outline: outlines(plane), drawn: upload(plane) };
  }

  /** Colour the newest plane; say whether it has come to the front by that. */
  function colour(colours) {
    const isNew = coming !== null;
    if (isNew) advance();
    else leaveBehind([]);
    if (front) {
      front.colours = colours;
      front.drawn?.colour(colours.piece);
    }
    return isNew;
  }

  function advance() {
    const { header } = coming.plane;
    const candidates = front ? [...behind, front] : [];
    const useful = candidates.filter(({ plane }) => canLieBehind(plane.header, header)).slice(-MOST_BEHIND);
    let pieces = 0;
    const kept = useful.filter(({ plane }) => {
      pieces += plane.arrays.piece_region.length;
      return pieces <= MOST_PIECES_BEHIND;
    });
    leaveBehind(kept);
    if (front && !behind.includes(front)) release(front);
    [front, coming] = [coming, null];
  }

  function leaveBehind(kept) {
    for (const one of behind) if (!kept.includes(one)) release(one);
    behind = kept;
  }

  function release(one) {
    one.drawn?.dispose();
    one.drawn = null;
  }

  return {
    add,
    colour,
    /** The plane in front, its colours and its outlines; null before the first. */
    front: () => front,
    /** Return what draws a view, from behind to front. */
    passes(view, style, target) {
      const isCovered = covers(front.plane.header.window, view);
      const seen = isCovered ? [] : behind.filter(({ plane }) => view.reach[1] > FINEST_BEHIND * plane.header.window.reach[1]);
      return [...seen, front].flatMap(({ drawn }) => drawn.passes(view, style, target));
    },
    /** Forget what lay on a GPU that took it away. */
    forget() {
      behind = [];
      for (const one of [front, coming]) if (one) one.drawn = null;
    },
    /** Upload everything again. */
    restore() {
      for (const one of [front, coming]) {
        if (!one) continue;
        one.drawn = upload(one.plane);
        if (one.colours) one.drawn.colour(one.colours.piece);
      }
    },
  };
}

/** Whether a plane, wider than the next and of the same kind, can be seen behind it. */
function canLieBehind(header, next) {
  return header.plane_id === next.plane_id && header.window.reach[1] > 1.01 * next.window.reach[1] && covers(header.window, next.window);
}

function covers(window, view) {
  return [0, 1].every((axis) => Math.abs(window.center[axis] - view.center[axis]) + view.reach[axis] <= window.reach[axis] * (1 + 1e-9));
}
