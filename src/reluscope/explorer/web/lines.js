// Straight pieces of any width: shaders pull the ends from a texture by the number of the vertex.
//
// Pieces lie in order of their gate and then of their length, so that the gates to show and the pieces that are long
// enough to be seen are ranges of numbers, and nothing is uploaded again when either changes. Long pieces are smooth
// quads; those of a few pixels, where there are many, are lines of one pixel, which cost software rendering a third.
import { buildProgram, fillTexture, ROW, SHIFT } from "./gl.js";

const PULLED = `#version 300 es
precision highp sampler2D;
uniform sampler2D ends;
uniform vec2 shift, scale;
vec4 pull(int piece) {
  return texelFetch(ends, ivec2(piece & ${ROW - 1}, piece >> ${SHIFT}), 0) * scale.xyxy + shift.xyxy;
}`;

const QUAD_VERTEX = `${PULLED}
uniform vec2 half_size;
uniform float half_width, cap;
out vec2 from_start;
flat out float whole;
void main() {
  int piece = gl_VertexID / 6;
  int turn = gl_VertexID - 6 * piece;
  int corner = turn < 3 ? turn : 6 - turn;
  vec4 both = pull(piece) * half_size.xyxy;
  vec2 along = both.zw - both.xy;
  whole = length(along);
  along = whole > 1e-9 ? along / whole : vec2(1.0, 0.0);
  float right = (corner & 2) == 2 ? whole + cap : -cap;
  float up = ((corner & 1) == 1 ? 1.0 : -1.0) * (half_width + 0.5);
  from_start = vec2(right, up);
  gl_Position = vec4((both.xy + along * right + vec2(-along.y, along.x) * up) / half_size, 0.0, 1.0);
}`;

const QUAD_FRAGMENT = `#version 300 es
precision highp float;
in vec2 from_start;
flat in float whole;
uniform float half_width, cap;
uniform vec4 ink;
out vec4 color;
void main() {
  float beyond = cap > 0.0 ? max(0.0, max(-from_start.x, from_start.x - whole)) : 0.0;
  float share = clamp(half_width + 0.5 - length(vec2(beyond, from_start.y)), 0.0, 1.0) * ink.a;
  color = vec4(ink.rgb * share, share);
}`;

const THIN_VERTEX = `${PULLED}
void main() {
  vec4 both = pull(gl_VertexID >> 1);
  gl_Position = vec4((gl_VertexID & 1) == 1 ? both.zw : both.xy, 0.0, 1.0);
}`;

const THIN_FRAGMENT = `#version 300 es
precision mediump float;
uniform vec4 ink;
out vec4 color;
void main() { color = vec4(ink.rgb * ink.a, ink.a); }`;

/** Steps of length that are told apart, and how many make a halving. */
const STEPS = 96;
const PER_HALVING = 4;

/**
 * Sort pieces by their group and, within groups, from long to short in steps of a quarter of a halving.
 * @param {Float32Array} ends (e, 2, 2)
 * @param {Int16Array | null} groups (e) from -1; one group if null
 * @returns {{ends: Float32Array, starts: Uint32Array, numGroups: number}} starts of every step of every group, and the
 *   end of all; group g begins at starts[STEPS * (g + 1)]
 */
export function sortPieces(ends, groups) {
  const number = ends.length / 4;
  let numGroups = 1;
  if (groups) for (let piece = 0; piece < number; piece++) if (groups[piece] + 2 > numGroups) numGroups = groups[piece] + 2;
  const keys = new Uint32Array(number);
  const starts = new Uint32Array(numGroups * STEPS + 1);
  for (let piece = 0; piece < number; piece++) {
    const at = 4 * piece;
    const right = ends[at + 2] - ends[at];
    const up = ends[at + 3] - ends[at + 1];
    keys[piece] = STEPS * (groups ? groups[piece] + 1 : 0) + stepOf(Math.sqrt(right * right + up * up));
    starts[keys[piece] + 1]++;
  }
  for (let key = 0; key < numGroups * STEPS; key++) starts[key + 1] += starts[key];
  const next = starts.slice();
  const sorted = new Float32Array(ends.length);
  for (let piece = 0; piece < number; piece++) {
    const to = 4 * next[keys[piece]]++;
    const at = 4 * piece;
    sorted[to] = ends[at];
    sorted[to + 1] = ends[at + 1];
    sorted[to + 2] = ends[at + 2];
    sorted[to + 3] = ends[at + 3];
  }
  return { ends: sorted, starts, numGroups };
}

/** Return the step of a length; the longest have step 0. */
export function stepOf(length) {
  if (!(length > 0)) return STEPS - 1;
  return Math.max(0, Math.min(STEPS - 1, Math.floor(PER_HALVING * (1 - Math.log2(length)))));
}

/** Compile what draws lines; one per context. */
export function linePrograms(gl) {
  return { quads: buildProgram(gl, QUAD_VERTEX, QUAD_FRAGMENT), thin: buildProgram(gl, THIN_VERTEX, THIN_FRAGMENT) };
}

/**
 * Upload straight pieces.
 * @returns {{number: number, numGroups: number, passes: function, dispose(): void}}
 */
export function uploadLines(gl, { quads, thin }, ends, groups) {
  const { ends: sorted, starts, numGroups } = sortPieces(ends, groups);
  const texture = gl.createTexture();
  // Nothing is read but the number of the vertex, for which an array without attributes is needed.
  const array = gl.createVertexArray();
  if (ends.length) fillTexture(gl, texture, sorted);

  /**
   * Return what draws the pieces of one group, as passes over ranges of vertices.
   * @param {{shift: number[], scale: number[]}} place from the pieces' coordinates to clip space
   * @param {{size: number[], width: number, ink: number[], rounded?: boolean, group?: number, quadsFrom?: number,
   *   shortest?: number}} look width in pixels; ink as red, green, blue, alpha of 1; lengths in the pieces' coordinates
   *   from which pieces are quads, and below which they are left out
   * @returns {{number: number, draw(first: number, count: number): void}[]} pieces, and what draws some of them
   */
  function passes(place, { group = -1, quadsFrom = 0, shortest = 0, ...look }) {
    const key = STEPS * (group + 1);
    const begin = starts[key];
    const end = starts[key + stepOf(shortest) + 1];
    const middle = Math.min(end, starts[key + stepOf(quadsFrom) + 1]);
    return [
      { number: middle - begin, cost: 6, draw: (first, count) => draw(quads, place, look, begin + first, count) },
      { number: end - middle, cost: 2, draw: (first, count) => draw(thin, place, look, middle + first, count) },
    ].filter(({ number }) => number > 0);
  }

  function draw(kind, { shift, scale }, { size, width, ink, rounded = false }, first, count) {
    const { program, at } = kind;
    const halfWidth = Math.max(1, width) / 2;
    gl.useProgram(program);
    gl.uniform2f(at.shift, ...shift);
    gl.uniform2f(at.scale, ...scale);
    // A line thinner than a pixel is a fainter one of a pixel.
    gl.uniform4f(at.ink, ink[0], ink[1], ink[2], ink[3] * Math.min(1, width));
    gl.uniform1i(at.ends, 0);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.bindVertexArray(array);
    if (kind === quads) {
      gl.uniform2f(at.half_size, size[0] / 2, size[1] / 2);
      gl.uniform1f(at.half_width, halfWidth);
      gl.uniform1f(at.cap, rounded ? halfWidth + 0.5 : 0);
      gl.drawArrays(gl.TRIANGLES, 6 * first, 6 * count);
    } else gl.drawArrays(gl.LINES, 2 * first, 2 * count);
    gl.bindVertexArray(null);
  }

  function dispose() {
    gl.deleteTexture(texture);
    gl.deleteVertexArray(array);
  }

  return { number: ends.length / 4, numGroups, passes, dispose };
}
