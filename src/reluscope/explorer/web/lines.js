// Straight pieces as smooth quads of any width: shaders pull the ends from a texture by the number of the vertex.
//
// Pieces lie in order of their gate and then of their length, so that the gates to show and the pieces that are long
// enough to be seen are ranges of numbers, and nothing is uploaded again when either changes.
import { buildProgram, fillTexture, ROW, SHIFT } from "./gl.js";

const VERTEX = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D;
uniform sampler2D ends;
uniform vec2 shift, scale, half_size;
uniform float half_width, cap;
out vec2 from_start;
flat out float whole;
void main() {
  int piece = gl_VertexID / 6;
  int turn = gl_VertexID - 6 * piece;
  int corner = turn < 3 ? turn : 6 - turn;
  vec4 both = texelFetch(ends, ivec2(piece & ${ROW - 1}, piece >> ${SHIFT}), 0);
  vec2 start = (both.xy * scale + shift) * half_size;
  vec2 along = (both.zw * scale + shift) * half_size - start;
  whole = length(along);
  along = whole > 1e-9 ? along / whole : vec2(1.0, 0.0);
  float right = (corner & 2) == 2 ? whole + cap : -cap;
  float up = ((corner & 1) == 1 ? 1.0 : -1.0) * (half_width + 1.0);
  from_start = vec2(right, up);
  gl_Position = vec4((start + along * right + vec2(-along.y, along.x) * up) / half_size, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
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

/** Steps of length that are told apart, and how many make a halving. */
const STEPS = 96;
const PER_HALVING = 4;

/**
 * Sort pieces by their group and, within groups, from long to short in steps of a quarter of a halving.
 * @param {Float32Array} ends (e, 2, 2)
 * @param {Int16Array | null} groups (e) from -1; one group if null
 * @returns {{ends: Float32Array, starts: Uint32Array, numGroups: number}} starts of every step of every group, and the
 *   end of all; group g - 1 begins at starts[STEPS * g]
 */
export function sortPieces(ends, groups) {
  const number = ends.length / 4;
  let numGroups = 1;
  if (groups) for (let piece = 0; piece < number; piece++) if (groups[piece] + 2 > numGroups) numGroups = groups[piece] + 2;
  const keys = new Uint32Array(number);
  const starts = new Uint32Array(numGroups * STEPS + 1);
  for (let piece = 0; piece < number; piece++) {
    const at = 4 * piece;
    const length = Math.hypot(ends[at + 2] - ends[at], ends[at + 3] - ends[at + 1]);
    keys[piece] = STEPS * (groups ? groups[piece] + 1 : 0) + stepOf(length);
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
export function lineProgram(gl) {
  return buildProgram(gl, VERTEX, FRAGMENT);
}

/**
 * Upload straight pieces.
 * @returns {{number: number, numGroups: number, draw: function, dispose(): void}}
 */
export function uploadLines(gl, { program, at }, ends, groups) {
  const sorted = sortPieces(ends, groups);
  const number = ends.length / 4;
  const texture = gl.createTexture();
  // Nothing is read but the number of the vertex, for which an array without attributes is needed.
  const array = gl.createVertexArray();
  if (number) fillTexture(gl, texture, sorted.ends);

  /**
   * Draw the pieces of one group, or all.
   * @param {{shift: number[], scale: number[]}} place from the pieces' coordinates to clip space
   * @param {{size: number[], width: number, ink: number[], rounded?: boolean, group?: number, shortest?: number}} look
   *   width in pixels; ink as red, green, blue, alpha of 1; shortest in the pieces' coordinates
   */
  function draw({ shift, scale }, { size, width, ink, rounded = false, group = null, shortest = 0 }) {
    const key = STEPS * ((group ?? -1) + 1);
    const first = group === null ? 0 : sorted.starts[key];
    const last = group === null ? number : sorted.starts[key + stepOf(shortest) + 1];
    if (first >= last) return;
    const halfWidth = Math.max(1, width) / 2;
    gl.useProgram(program);
    gl.uniform2f(at.shift, ...shift);
    gl.uniform2f(at.scale, ...scale);
    gl.uniform2f(at.half_size, size[0] / 2, size[1] / 2);
    gl.uniform1f(at.half_width, halfWidth);
    gl.uniform1f(at.cap, rounded ? halfWidth + 1 : 0);
    // A line thinner than a pixel is a fainter one of a pixel.
    gl.uniform4f(at.ink, ink[0], ink[1], ink[2], ink[3] * Math.min(1, width));
    gl.uniform1i(at.ends, 0);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.bindVertexArray(array);
    gl.drawArrays(gl.TRIANGLES, 6 * first, 6 * (last - first));
    gl.bindVertexArray(null);
  }

  function dispose() {
    gl.deleteTexture(texture);
    gl.deleteVertexArray(array);
  }

  return { number, numGroups: sorted.numGroups, draw, dispose };
}
