// What a snapshot knows of a region without its network: its class, area, and the units on its sides.

import { outlines } from "./outline.js";

const ROUNDING = 1e-5;

/**
 * Return the header of an answer to `region`, made of the arrays of a plane.
 * @param {object} hello
 * @param {{header: object, arrays: Record<string, ArrayLike<number>>}} plane
 * @param {{row: number}} question
 */
export function regionOfStill(hello, plane, { row }) {
  const { arrays, header: { window: { reach } } } = plane;
  const one = arrays.region_class[row];
  const border = [reach[0] / reach[1], 1].map((end) => end * (1 - ROUNDING));
  const isCut = outlines(plane)(row).some((corner) => corner.some((place, axis) => Math.abs(place) >= border[axis]));
  const sides = [];
  arrays.edge_gate.forEach((gate, edge) => {
    const pair = [...arrays.edge_regions.subarray(2 * edge, 2 * edge + 2)];
    if (!pair.includes(row)) return;
    const [ax, ay, bx, by] = arrays.edge_ends.subarray(4 * edge, 4 * edge + 4);
    const unit = arrays.edge_unit[edge];
    sides.push({
      neighbor: pair[0] === row ? pair[1] : pair[0],
      gate,
      unit,
      flips: `unit ${unit} of ${hello.model.gates[gate]?.name} flips`,
      length: Math.hypot(bx - ax, by - ay) * reach[1],
      ends: [[ax, ay], [bx, by]],
    });
  });
  return {
    answer: "region",
    row,
    class: one < 0 ? null : one,
    class_name: hello.class_names?.[one] ?? null,
    area: { value: arrays.region_area[row], claim: isCut ? "LOWER" : null },
    is_cut: isCut,
    sides,
  };
}
