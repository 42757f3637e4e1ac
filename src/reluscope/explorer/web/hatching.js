// Diagonal hatching of a window: it shows where work stopped before regions were found, because fills cover the rest.
import { buildProgram } from "./gl.js";

const VERTEX = `#version 300 es
uniform vec2 shift, scale;
uniform float aspect;
void main() {
  vec2 corner = vec2((gl_VertexID & 1) == 1 ? aspect : -aspect, (gl_VertexID & 2) == 2 ? 1.0 : -1.0);
  gl_Position = vec4(corner * scale + shift, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
uniform float period;
uniform vec4 ink;
out vec4 color;
void main() {
  float across = abs(fract((gl_FragCoord.x - gl_FragCoord.y) / period) - 0.5) * period * 0.7071;
  float share = clamp(1.0 - across, 0.0, 1.0) * ink.a;
  color = vec4(ink.rgb * share, share);
}`;

/** Compile what draws hatching; one per context. */
export function hatchProgram(gl) {
  return buildProgram(gl, VERTEX, FRAGMENT);
}

/**
 * Return what hatches a window whose half height is 1, as a pass.
 * @param {{shift: number[], scale: number[]}} place
 * @param {{aspect: number, period: number, ink: number[]}} look period in pixels
 */
export function hatching(gl, hatch, place, look) {
  return [{ number: 1, cost: 4, draw: () => draw(gl, hatch, place, look) }];
}

function draw(gl, { program, at }, { shift, scale }, { aspect, period, ink }) {
  gl.useProgram(program);
  gl.uniform2f(at.shift, ...shift);
  gl.uniform2f(at.scale, ...scale);
  gl.uniform1f(at.aspect, aspect);
  gl.uniform1f(at.period, period);
  gl.uniform4f(at.ink, ...ink);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.bindVertexArray(null);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
}
