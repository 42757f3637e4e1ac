// What every WebGL2 program here needs: a context, programs, buffers of uniforms by name, arrays as textures.

/** There is no WebGL2 in this browser, or it is switched off. */
export class NoWebGL extends Error {
  constructor() {
    super(
      "expected WebGL 2 to draw the plane, and this browser has none or has it switched off: " +
        "switch hardware acceleration on, or take another browser",
    );
    this.name = "NoWebGL";
  }
}

/** Numbers that share a row of a texture of arrays; every WebGL2 has at least this many. */
export const ROW = 2048;
export const SHIFT = 11;

/**
 * Return the WebGL2 context of a canvas.
 * @param {HTMLCanvasElement} canvas
 * @returns {WebGL2RenderingContext}
 */
export function openContext(canvas) {
  // Lines are smoothed by their own shader; many samples per pixel would cost software rendering four times as much.
  const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, depth: false, premultipliedAlpha: true });
  if (!gl) throw new NoWebGL();
  return gl;
}

/**
 * Compile a program and find its uniforms.
 * @returns {{program: WebGLProgram, at: Object<string, WebGLUniformLocation>}}
 */
export function buildProgram(gl, vertexText, fragmentText) {
  const program = gl.createProgram();
  const shaders = [
    [gl.VERTEX_SHADER, vertexText],
    [gl.FRAGMENT_SHADER, fragmentText],
  ].map(([kind, text]) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    return shader;
  });
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const said = [...shaders.map((shader) => gl.getShaderInfoLog(shader)), gl.getProgramInfoLog(program)];
    throw new Error(`a shader did not compile, please report this: ${said.filter(Boolean).join(" ")}`);
  }
  for (const shader of shaders) gl.deleteShader(shader);
  const at = {};
  for (let index = 0; index < (gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0); index++) {
    const { name } = gl.getActiveUniform(program, index);
    at[name] = gl.getUniformLocation(program, name);
  }
  return { program, at };
}

/**
 * Put an array into a texture that shaders read by number: entry k at (k & 2047, k >> 11).
 * @param {WebGLTexture} texture
 * @param {Float32Array | Uint8Array} values four per entry
 */
export function fillTexture(gl, texture, values) {
  const isFloat = values instanceof Float32Array;
  const height = Math.max(1, Math.ceil(values.length / (4 * ROW)));
  const [internal, kind] = isFloat ? [gl.RGBA32F, gl.FLOAT] : [gl.RGBA8, gl.UNSIGNED_BYTE];
  let padded = values;
  if (values.length !== 4 * ROW * height) {
    padded = isFloat ? new Float32Array(4 * ROW * height) : new Uint8Array(4 * ROW * height);
    padded.set(values);
  }
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, internal, ROW, height, 0, gl.RGBA, kind, padded);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
}
