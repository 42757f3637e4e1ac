// From values of regions to steps of a scale or to kinds, as `reluscope.plots.coloring` does it.

const SLIVERS = 0.01;
const KINDS = 10;

/**
 * Return the scale of values and which of its steps each lies on, -1 where it is not finite.
 *
 * A logarithmic scale starts at its lowest percentile, below which values share the lowest colour.
 * @param {ArrayLike<number>} values
 * @param {boolean} logarithmic
 * @param {number} steps
 * @returns {{low: number, high: number, logarithmic: boolean, levels: Int16Array, extends: boolean, only: number | null}}
 */
export function scaleOf(values, logarithmic, steps) {
  const [low, high] = endsOf(values, logarithmic);
  const isLogarithmic = logarithmic && low > 0;
  const shape = isLogarithmic ? Math.log : (value) => value;
  const [from, to] = [shape(low), shape(high)];
  const levels = new Int16Array(values.length);
  let [isBelow, isOnly] = [false, values.length > 0];
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    if (value < low) isBelow = true;
    if (value !== values[0]) isOnly = false;
    const share = (shape(Math.min(high, Math.max(low, value))) - from) / (to - from);
    levels[row] = Number.isFinite(value) ? Math.min(steps - 1, Math.floor(steps * share)) : -1;
  }
  return { low, high, logarithmic: isLogarithmic, levels, extends: isBelow, only: isOnly ? values[0] : null };
}

function endsOf(values, logarithmic) {
  const finite = Float64Array.from(values).filter((value) => Number.isFinite(value) && (!logarithmic || value > 0));
  if (!finite.length) return [0, 1];
  let high = -Infinity;
  let low = Infinity;
  for (const value of finite) {
    if (value > high) high = value;
    if (value < low) low = value;
  }
  if (logarithmic) low = finite.sort()[Math.floor(SLIVERS * (finite.length - 1))];
  return high > low ? [low, high] : [low, low + Math.max(1, Math.abs(low))];
}

/**
 * Return one of ten kinds per region for groups of regions, so that groups beside each other differ where that is
 * possible: in order of the groups, of the kinds that no neighbour has, the one that fewest groups have.
 * @param {ArrayLike<number>} groups one per region
 * @param {{edge_regions: ArrayLike<number>}} arrays
 * @returns {Uint8Array}
 */
export function kindsOf(groups, { edge_regions: pairs }) {
  const names = new Map();
  const own = Uint32Array.from(groups, (group) => {
    if (!names.has(group)) names.set(group, names.size);
    return names.get(group);
  });
  const beside = Array.from({ length: names.size }, () => []);
  for (let edge = 0; edge < pairs.length; edge += 2) {
    const [one, other] = [own[pairs[edge]], own[pairs[edge + 1]]];
    if (one === other || pairs[edge] < 0 || pairs[edge + 1] < 0) continue;
    beside[one].push(other);
    beside[other].push(one);
  }
  const kinds = new Int16Array(names.size).fill(-1);
  const used = new Array(KINDS).fill(0);
  for (let group = 0; group < names.size; group++) {
    const costs = used.slice();
    for (const other of beside[group]) if (kinds[other] >= 0) costs[kinds[other]] += names.size + 1;
    kinds[group] = costs.indexOf(Math.min(...costs));
    used[kinds[group]]++;
  }
  return Uint8Array.from(own, (group) => kinds[group]);
}
