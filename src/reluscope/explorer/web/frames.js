// How a picture reaches the canvas: at once where that is quick, else in slices beside the picture before.
//
// Drawing a million regions takes software rendering a second. Then a picture somewhat larger than the view is kept in a
// texture and moved with the view, and the next one is drawn into a second texture, some of it in each frame. How much
// is learned from how long it took.
import { buildProgram } from "./gl.js";

const LARGER = 1.25; // what is kept, by the view, in length
const SLOW = 70; // milliseconds
const QUICK = 25;
const LEAST = 100_000; // vertices in a slice: below, what every slice takes by itself counts more
const AT_REST = 3; // times as much may be drawn at once while nothing moves
const PER_PIXEL = 1 / 8; // of the cost of a vertex

const VERTEX = `#version 300 es
uniform vec2 shift, scale;
out vec2 place;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  place = corner;
  gl_Position = vec4((2.0 * corner - 1.0) * scale + shift, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
uniform sampler2D kept;
in vec2 place;
out vec4 color;
void main() { color = texture(kept, place); }`;

/**
 * @param {WebGL2RenderingContext} gl
 * @returns {{draw(wish: object): boolean, drawNow(wish: object): void}} a wish has view, size in pixels,
 *   content (another object when another picture is meant) and passes(view, size); `draw` says whether it has more to do
 */
export function createFrames(gl) {
  const copy = buildProgram(gl, VERTEX, FRAGMENT);
  const array = gl.createVertexArray();
  let most = Infinity;
  let watched = null;
  let kept = null;
  let spare = null;
  let job = null;
  let last = null;

  /** Learn how much can be drawn in a frame; say whether what was asked for last has been drawn. */
  function learn() {
    if (!watched) return true;
    if (gl.clientWaitSync(watched.sync, 0, 0) === gl.TIMEOUT_EXPIRED) return false;
    const took = performance.now() - watched.began;
    if (took > SLOW * watched.patience) most = Math.max(LEAST, (watched.cost * 0.7 * SLOW) / took);
    else if (took < QUICK && watched.cost > most / 2) most *= 2;
    gl.deleteSync(watched.sync);
    watched = null;
    return true;
  }

  function watch(cost, patience = 1) {
    watched = { sync: gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0), began: performance.now(), cost, patience };
    gl.flush();
  }

  function draw(wish) {
    if (!learn()) return true;
    const isStill = last?.view === wish.view;
    if (isStill && last.isDone && last.content === wish.content && String(last.size) === String(wish.size)) return false;
    const passes = wish.passes(wish.view, wish.size);
    const cost = costOf(passes, wish.size);
    if (cost <= most) {
      job = null;
      drawNow(wish, passes);
      watch(cost);
    } else {
      const isStale = !kept || kept.content !== wish.content || !fits(kept, wish);
      if (isStale && !(job && job.content === wish.content && isNear(job.view, wish.view))) begin(wish);
      if (job) advance(isStill ? AT_REST * most : most);
      if (kept) move(kept, wish);
    }
    const isShown = cost <= most || (kept?.content === wish.content && fits(kept, wish));
    last = { view: wish.view, content: wish.content, size: wish.size, isDone: isShown && !job };
    return !last.isDone || watched !== null;
  }

  function drawNow(wish, passes = wish.passes(wish.view, wish.size)) {
    onto(null, wish.size);
    for (const pass of passes) pass.draw(0, pass.number);
  }

  function onto(buffer, size, isCleared = true) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
    gl.viewport(0, 0, ...size);
    gl.clearColor(0, 0, 0, 0);
    if (isCleared) gl.clear(gl.COLOR_BUFFER_BIT);
  }

  function begin({ view, size, content, passes }) {
    const larger = size.map((length) => 2 * Math.ceil((LARGER * length) / 2));
    const wider = { center: view.center, reach: view.reach.map((reach, axis) => (reach * larger[axis]) / size[axis]) };
    spare = withSize(spare, larger);
    job = { view: wider, size: larger, content, left: passes(wider, larger).map((pass) => ({ ...pass, first: 0 })) };
    onto(spare.buffer, larger);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  function advance(budget) {
    let cost = 0;
    onto(spare.buffer, job.size, false);
    while (job.left.length && cost < budget) {
      const pass = job.left[0];
      const count = Math.min(pass.number - pass.first, Math.max(1, Math.ceil((budget - cost) / pass.cost)));
      pass.draw(pass.first, count);
      pass.first += count;
      cost += count * pass.cost;
      if (pass.first >= pass.number) job.left.shift();
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    watch(cost, Math.max(1, budget / most));
    if (job.left.length) return;
    [kept, spare] = [{ ...spare, view: job.view, content: job.content }, kept];
    job = null;
  }

  function move(picture, { view, size }) {
    const scale = [0, 1].map((axis) => picture.view.reach[axis] / view.reach[axis]);
    let shift = [0, 1].map((axis) => (picture.view.center[axis] - view.center[axis]) / view.reach[axis]);
    const isSameScale = fits(picture, { view, size }, 0);
    // Where only the place differs, whole pixels keep the picture sharp.
    if (isSameScale) shift = shift.map((part, axis) => (2 * Math.round((part * size[axis]) / 2)) / size[axis]);
    onto(null, size);
    gl.useProgram(copy.program);
    gl.uniform2f(copy.at.shift, ...shift);
    gl.uniform2f(copy.at.scale, ...scale);
    gl.uniform1i(copy.at.kept, 0);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, picture.texture);
    const filter = isSameScale ? gl.NEAREST : gl.LINEAR;
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(array);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.bindVertexArray(null);
  }

  function withSize(picture, size) {
    if (picture && picture.size[0] === size[0] && picture.size[1] === size[1]) return picture;
    if (picture) release(picture);
    const [texture, buffer] = [gl.createTexture(), gl.createFramebuffer()];
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, ...size);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    return { texture, buffer, size };
  }

  function release({ texture, buffer }) {
    gl.deleteTexture(texture);
    gl.deleteFramebuffer(buffer);
  }

  return { draw, drawNow };
}

function costOf(passes, size) {
  return passes.reduce((sum, { number, cost }) => sum + number * cost, size[0] * size[1] * PER_PIXEL);
}

/** Whether a kept picture shows all of a view, at its scale. */
function fits(picture, { view, size }, slack = 1) {
  return [0, 1].every((axis) => {
    const scale = picture.view.reach[axis] / view.reach[axis] / (picture.size[axis] / size[axis]);
    const isInside = Math.abs(picture.view.center[axis] - view.center[axis]) + slack * view.reach[axis] <= picture.view.reach[axis];
    return Math.abs(scale - 1) < 1e-6 && (!slack || isInside);
  });
}

/** Whether a picture that is being drawn for one view is still of use for another. */
function isNear(one, other) {
  return [0, 1].every((axis) => {
    const scale = one.reach[axis] / LARGER / other.reach[axis];
    return scale > 0.66 && scale < 1.5 && Math.abs(one.center[axis] - other.center[axis]) < one.reach[axis];
  });
}
