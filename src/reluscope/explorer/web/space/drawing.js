// Polygons in space by WebGL2: flat light, exact classes within a polygon, what lies before a plane cut away.
import { buildProgram, fillTexture, NoWebGL, ROW, SHIFT } from "../gl.js";

const PULLED = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D;
uniform sampler2D vertices, pieces, middles, scores;
uniform mat4 matrix;
uniform float explode, nearer;
uniform int blocks;
layout(location = 0) in uvec2 corner;
out vec3 place;
flat out vec3 normal;
flat out int piece, region;
out vec4 score0, score1, score2, score3;
vec4 at(sampler2D from, int index) { return texelFetch(from, ivec2(index & ${ROW - 1}, index >> ${SHIFT}), 0); }
void main() {
  int vertex = int(corner.x);
  piece = int(corner.y);
  vec4 known = at(pieces, piece);
  normal = known.xyz;
  region = int(known.w);
  place = at(vertices, vertex).xyz;
  vec3 moved = place + (explode > 0.0 && region >= 0 ? explode * at(middles, region).xyz : vec3(0.0));
  score0 = blocks > 0 ? at(scores, vertex * blocks) : vec4(0.0);
  score1 = blocks > 1 ? at(scores, vertex * blocks + 1) : vec4(0.0);
  score2 = blocks > 2 ? at(scores, vertex * blocks + 2) : vec4(0.0);
  score3 = blocks > 3 ? at(scores, vertex * blocks + 3) : vec4(0.0);
  gl_Position = matrix * vec4(moved, 1.0);
  gl_Position.z -= nearer * gl_Position.w;
}`;

const FILL = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D;
uniform sampler2D shades, behind;
uniform vec4 cut;
uniform vec4 palette[17];
uniform vec3 to_light, eye, reach;
uniform int classes, hovered, chosen, two_sided;
uniform float light;
in vec3 place;
flat in vec3 normal;
flat in int piece, region;
in vec4 score0, score1, score2, score3;
out vec4 color;
vec4 at(sampler2D from, int index) { return texelFetch(from, ivec2(index & ${ROW - 1}, index >> ${SHIFT}), 0); }
void main() {
  if (dot(cut.xyz, place) > cut.w || any(greaterThan(abs(place), reach))) discard;
  vec4 shade = at(shades, piece);
  if (two_sided == 1 && dot(normal, eye - place) < 0.0) shade = at(behind, piece);
  if (classes > 0) {
    float score[16] = float[16](score0.x, score0.y, score0.z, score0.w, score1.x, score1.y, score1.z, score1.w,
      score2.x, score2.y, score2.z, score2.w, score3.x, score3.y, score3.z, score3.w);
    int winner = 0;
    for (int one = 1; one < classes; one++) if (score[one] > score[winner]) winner = one;
    shade = palette[winner];
  }
  float bright = mix(1.0, 0.58 + 0.42 * abs(dot(normal, to_light)), light);
  vec3 lit = shade.rgb * bright;
  if (region >= 0 && region == chosen) lit = mix(lit, vec3(0.98, 0.82, 0.1), 0.55);
  if (region >= 0 && region == hovered) lit = mix(lit, vec3(1.0), 0.45);
  color = vec4(lit, 1.0);
}`;

const EDGE = `#version 300 es
precision highp float; precision highp int;
uniform vec4 cut, ink;
uniform vec3 reach;
in vec3 place;
out vec4 color;
void main() {
  if (dot(cut.xyz, place) > cut.w || any(greaterThan(abs(place), reach))) discard;
  color = vec4(ink.rgb * ink.a, ink.a);
}`;

const NOTHING = [0, 0, 0, 1e9];

/**
 * Return what draws meshes onto a canvas.
 * @param {HTMLCanvasElement} canvas
 * @throws {NoWebGL}
 */
export function createDrawing(canvas) {
  const gl = canvas.getContext("webgl2", { alpha: true, antialias: true, depth: true, premultipliedAlpha: true });
  if (!gl) throw new NoWebGL();
  let programs = null;
  let layers = new Map();

  function begin() {
    programs = { fill: buildProgram(gl, PULLED, FILL), edge: buildProgram(gl, PULLED, EDGE) };
    layers = new Map();
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }
  begin();

  function upload(values) {
    const buffer = gl.createBuffer();
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribIPointer(0, 2, gl.UNSIGNED_INT, 8, 0);
    return { buffer, array };
  }
  function textureOf(values) {
    const texture = gl.createTexture();
    fillTexture(gl, texture, values);
    return texture;
  }
  function release(layer) {
    for (const texture of Object.values(layer.textures)) gl.deleteTexture(texture);
    for (const { buffer, array } of [layer.triangles, layer.edges]) {
      gl.deleteBuffer(buffer);
      gl.deleteVertexArray(array);
    }
  }

  return {
    gl,
    /**
     * Put a layer in the place of that of its name; null takes it away.
     * @param {string} name
     * @param {{triangles: Uint32Array, edges: Uint32Array, vertices: Float32Array, pieces: Float32Array,
     *   middles?: Float32Array, scores?: Float32Array, blocks?: number} | null} mesh four numbers per entry of each texture
     */
    put(name, mesh) {
      const before = layers.get(name);
      if (before) release(before);
      layers.delete(name);
      if (mesh === null) return;
      const none = new Float32Array(4);
      layers.set(name, {
        blocks: mesh.blocks ?? 0,
        triangles: upload(mesh.triangles), edges: upload(mesh.edges),
        textures: {
          vertices: textureOf(mesh.vertices), pieces: textureOf(mesh.pieces), middles: textureOf(mesh.middles ?? none),
          scores: textureOf(mesh.scores ?? none), shades: textureOf(new Uint8Array(4)), behind: textureOf(new Uint8Array(4)),
        },
      });
    },
    /** Colour the polygons of a layer: four bytes for each, and for each seen from behind. */
    colour(name, shades, behind = null) {
      const layer = layers.get(name);
      if (!layer) return;
      fillTexture(gl, layer.textures.shades, shades);
      if (behind) fillTexture(gl, layer.textures.behind, behind);
    },
    /** Begin a picture. */
    clear() {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    },
    /**
     * Draw a layer.
     * @param {string} name
     * @param {object} view of a camera
     * @param {{explode?: number, cut?: number[], reach: number[], classes?: number, palette?: Float32Array, hovered?: number,
     *   chosen?: number, twoSided?: boolean, light?: number, ink?: number[] | null, triangles?: number, edges?: number}} how
     */
    draw(name, view, how) {
      const layer = layers.get(name);
      if (!layer || gl.isContextLost()) return;
      const { textures, blocks } = layer;
      const units = Object.keys(textures);
      const use = ({ program, at }, nearer) => {
        gl.useProgram(program);
        units.forEach((key, unit) => {
          gl.activeTexture(gl.TEXTURE0 + unit);
          gl.bindTexture(gl.TEXTURE_2D, textures[key]);
          if (at[key]) gl.uniform1i(at[key], unit);
        });
        gl.uniformMatrix4fv(at.matrix, false, view.matrix);
        gl.uniform1f(at.explode, how.explode ?? 0);
        gl.uniform1f(at.nearer, nearer);
        gl.uniform1i(at.blocks, how.classes ? blocks : 0);
        gl.uniform4fv(at.cut, how.cut ?? NOTHING);
        gl.uniform3fv(at.reach, how.reach.map((one) => one + 1e-4));
        return at;
      };
      const at = use(programs.fill, how.nearer ?? 0);
      gl.uniform1i(at.classes, how.classes ?? 0);
      gl.uniform1i(at.hovered, how.hovered ?? -1);
      gl.uniform1i(at.chosen, how.chosen ?? -1);
      gl.uniform1i(at.two_sided, how.twoSided ? 1 : 0);
      gl.uniform1f(at.light, how.light ?? 1);
      gl.uniform3fv(at.eye, view.eye);
      gl.uniform3fv(at.to_light, view.toEye.map((one, axis) => 0.85 * one + 0.45 * view.up[axis] - 0.27 * view.right[axis]));
      if (how.palette) gl.uniform4fv(at["palette[0]"], how.palette);
      gl.bindVertexArray(layer.triangles.array);
      gl.drawArrays(gl.TRIANGLES, 0, how.triangles);
      if (!how.ink) return;
      const edge = use(programs.edge, (how.nearer ?? 0) + 2e-4);
      gl.uniform4fv(edge.ink, how.ink);
      gl.bindVertexArray(layer.edges.array);
      gl.drawArrays(gl.LINES, 0, how.edges);
    },
    /** Begin anew on a context that came back. */
    restore: begin,
    dispose() {
      for (const layer of layers.values()) release(layer);
      gl.getExtension("WEBGL_lose_context")?.loseContext();
    },
  };
}
