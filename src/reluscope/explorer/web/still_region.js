// What a snapshot knows of a region without its network: its class, area, and the units on its sides.

/**
 * Return the header of an answer to `region`, made of the arrays of a plane.
 * @param {object} hello
 * @param {{header: object, arrays: Record<string, ArrayLike<number>>}} plane
 * @param {{row: number, seq: number}} question
 */
export function regionOfStill(hello, plane, { row }) {
  const { arrays } = plane;
  const isCut = touchesBorder(plane, row);
  const one = arrays.region_class?.[row] ?? -1;
  return {
    answer: "region",
    row,
    class: one,
    class_name: hello.class_names?.[one] ?? null,
    area: { value: arrays.region_area[row], claim: isCut ? "LOWER" : null },
    is_cut: isCut,
    sides: sidesOf(hello, plane, row),
  };
}

function sidesOf(hello, { header, arrays }, row) {
  const unitLength = header.window.reach[1];
  const sides = [];
  for (let edge = 0; edge < arrays.edge_gate.length; edge++) {
    const [left, right] = [arrays.edge_regions[2 * edge], arrays.edge_regions[2 * edge + 1]];
    if (left !== row && right !== row) continue;
    const [ax, ay, bx, by] = arrays.edge_ends.subarray(4 * edge, 4 * edge + 4);
    const gate = arrays.edge_gate[edge];
    sides.push({
      neighbor: left === row ? right : left,
      gate,
      unit: arrays.edge_unit[edge],
      flips: `unit ${arrays.edge_unit[edge]} of ${hello.model.gates[gate]?.name ?? `gate ${gate}`} flips`,
      length: Math.hypot(bx - ax, by - ay) * unitLength,
      ends: [[ax, ay], [bx, by]],
    });
  }
  return sides;
}

const ROUNDING = 1e-5;

/** Whether a region ends where the window does. */
function touchesBorder({ header, arrays: { corners, piece_offsets: offsets, piece_region: regions } }, row) {
  const border = [header.window.reach[0] / header.window.reach[1], 1].map((reach) => reach * (1 - ROUNDING));
  for (let piece = 0; piece < regions.length; piece++) {
    if (regions[piece] !== row) continue;
    for (let at = 2 * offsets[piece]; at < 2 * offsets[piece + 1]; at++) if (Math.abs(corners[at]) >= border[at % 2]) return true;
  }
  return false;
}
