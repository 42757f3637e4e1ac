// The line that a click means: where a unit switches, close to a point.

/**
 * Return gate and unit of the edge nearest to a point, or null if none is that close.
 * @param {{arrays: Object<string, ArrayLike<number>>}} plane
 * @param {number[]} point relative to the plane's window, as `within`
 */
export function unitNear({ arrays: { edge_ends: ends, edge_gate: gates, edge_unit: units } }, [x, y], within) {
  let [nearest, found] = [within * within, -1];
  for (let edge = 0; edge < gates.length; edge++) {
    const [ax, ay] = [ends[4 * edge], ends[4 * edge + 1]];
    const [dx, dy] = [ends[4 * edge + 2] - ax, ends[4 * edge + 3] - ay];
    const length = dx * dx + dy * dy;
    const share = length > 0 ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
    const away = (ax + share * dx - x) ** 2 + (ay + share * dy - y) ** 2;
    if (away <= nearest) [nearest, found] = [away, edge];
  }
  return found < 0 ? null : { gate: gates[found], unit: units[found] };
}
