// From one dot of a map to the next in a direction.

// What lies aside counts as so much further than what lies ahead.
const ASIDE = 3;

/**
 * Return the nearest dot in a direction, -1 if there is none: by the way ahead and three times that aside.
 * @param {number[][]} places
 * @param {number} at the dot to go from
 * @param {number[]} way a unit vector along an axis
 */
export function nextDot(places, at, [right, down]) {
  const [x, y] = places[at];
  let [best, least] = [-1, Infinity];
  places.forEach(([toX, toY], to) => {
    const ahead = (toX - x) * right + (toY - y) * down;
    const aside = Math.abs((toX - x) * down) + Math.abs((toY - y) * right);
    // Of dots in one place the later is ahead to the right and down, so that arrows reach all of them.
    const isAhead = ahead > 0 || (ahead === 0 && aside === 0 && (to - at) * (right + down) > 0);
    const far = ahead + ASIDE * aside;
    const isNearer = far < least || (far === least && far === 0 && right + down < 0);
    if (to !== at && isAhead && isNearer) [best, least] = [to, far];
  });
  return best;
}
