// What is said about a place of space that is pointed at.

import { capital, make } from "../elements.js";
import { toRelative } from "../places.js";
import { className, count, number } from "../words.js";
import { classAt } from "./mesh.js";
import { sideNames } from "./shades.js";

/**
 * Return the lines about what is seen: a piece of a surface, or a region and the class at this very place.
 * @param {{on?: number[], piece?: number, shares?: object}} seen
 * @param {number} region
 */
export function wordsOf(seen, region, { hello, mesh, looking, numClasses }) {
  const { arrays } = mesh;
  if (arrays.piece_classes) return [`between ${sideNames(arrays.piece_classes, seen.piece, hello).join(" and ")}`];
  if (!arrays.region_rate) return [`output ${mesh.header.output} is ${number(mesh.header.level)}`];
  const one = hello.is_classifier ? classOf(seen, region, { mesh, looking, numClasses }) : -1;
  const units = hello.model.gates.filter((gate) => gate.pieces === 2).reduce((sum, gate) => sum + gate.units, 0);
  return [
    one >= 0 && make("b", capital(className(hello, one))),
    region >= 0 && units > 0 && `${count(Math.round(arrays.region_rate[region] * units))} of ${count(units)} units on`,
    region >= 0 && `volume in the box ${number(arrays.region_volume[region])}`,
  ].filter(Boolean);
}

function classOf(seen, region, { mesh, looking, numClasses }) {
  if (seen.on) {
    const { plane: picture, picker } = looking.shown.get();
    const found = picker?.at(...toRelative(picture, seen.on));
    return found ? picture.arrays.piece_class[found.piece] : -1;
  }
  const { scores, region_class: classes } = mesh.arrays;
  return scores ? classAt(scores, numClasses, seen.shares) : (classes?.[region] ?? -1);
}
