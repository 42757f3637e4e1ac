// Fills: convex pieces as fans of triangles, each vertex with the number of its piece; colours are looked up by it.
import { buildProgram, fillTexture, ROW, SHIFT } from "./gl.js";

const VERTEX = `#version 300 es
precision highp sampler2D;
layout(location = 0) in vec2 corner;
layout(location = 1) in uint piece;
uniform vec2 shift, scale;
uniform sampler2D shades;
flat out vec4 shade;
void main() {
  int number = int(piece);
  shade = texelFetch(shades, ivec2(number & ${ROW - 1}, number >> ${SHIFT}), 0);
  gl_Position = vec4(corner * scale + shift, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
flat in vec4 shade;
out vec4 color;
void main() { color = vec4(shade.rgb * shade.a, shade.a); }`;

/**
 * Return the corners of triangles that fill convex polygons, and the polygon of every corner.
 * @param {Int32Array} offsets (p + 1) where each polygon's corners begin
 * @returns {{corners: Uint32Array, pieces: Uint32Array}} three corners per triangle; one piece per corner of a polygon
 */
export function fans(offsets) {
  const number = Math.max(0, offsets.length - 1);
  const total = number ? offsets[number] : 0;
  let triangles = 0;
  for (let piece = 0; piece < number; piece++) triangles += Math.max(0, offsets[piece + 1] - offsets[piece] - 2);
  const corners = new Uint32Array(3 * triangles);
  const pieces = new Uint32Array(total);
  let next = 0;
  for (let piece = 0; piece < number; piece++) {
    const start = offsets[piece];
    const end = offsets[piece + 1];
    pieces.fill(piece, start, end);
    for (let corner = start + 2; corner < end; corner++) {
      corners[next++] = start;
      corners[next++] = corner - 1;
      corners[next++] = corner;
    }
  }
  return { corners, pieces };
}

/** Compile what draws fills; one per context. */
export function fillProgram(gl) {
  return buildProgram(gl, VERTEX, FRAGMENT);
}

/**
 * Upload the pieces of a plane.
 * @returns {{colour(rgba: Uint8Array): void, passes(place: {shift: number[], scale: number[]}): object[], dispose(): void}}
 */
export function uploadFills(gl, { program, at }, cornersOfPieces, offsets) {
  const { corners, pieces } = fans(offsets);
  const array = gl.createVertexArray();
  const buffers = [cornersOfPieces, pieces, corners].map(() => gl.createBuffer());
  const shades = gl.createTexture();
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffers[0]);
  gl.bufferData(gl.ARRAY_BUFFER, cornersOfPieces, gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffers[1]);
  gl.bufferData(gl.ARRAY_BUFFER, pieces, gl.STATIC_DRAW);
  gl.enableVertexAttribArray(1);
  gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_INT, 0, 0);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[2]);
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, corners, gl.STATIC_DRAW);
  gl.bindVertexArray(null);

  /** Return what fills the pieces, as a pass over triangles; place leads from the pieces' coordinates to clip space. */
  function passes({ shift, scale }) {
    const number = corners.length / 3;
    return number ? [{ number, cost: 3, draw: (first, count) => draw(shift, scale, first, count) }] : [];
  }

  function draw(shift, scale, first, count) {
    gl.useProgram(program);
    gl.uniform2f(at.shift, ...shift);
    gl.uniform2f(at.scale, ...scale);
    gl.uniform1i(at.shades, 0);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, shades);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(array);
    gl.drawElements(gl.TRIANGLES, 3 * count, gl.UNSIGNED_INT, 12 * first);
    gl.bindVertexArray(null);
  }

  function dispose() {
    gl.deleteVertexArray(array);
    for (const buffer of buffers) gl.deleteBuffer(buffer);
    gl.deleteTexture(shades);
  }

  return { colour: (rgba) => fillTexture(gl, shades, rgba), passes, dispose };
}
