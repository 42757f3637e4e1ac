// The camera: what gestures and keys do to the view, without a browser.
import assert from "node:assert/strict";
import test, { mock } from "node:test";

import { createCamera, fitted } from "../../../src/reluscope/explorer/web/camera.js";

const HOME = { center: [3, -2], reach: [1.5, 1] };

globalThis.ResizeObserver = class {
  constructor(act) {
    this.act = act;
  }
  observe(element) {
    element.resized = this.act;
  }
  disconnect() {}
};

const frames = [];
globalThis.requestAnimationFrame = (act) => frames.push(act);
globalThis.cancelAnimationFrame = () => {};

/** An element of 300 by 200 pixels at (10, 20) of the page, and the camera over it. */
function stage(options = {}) {
  const element = new EventTarget();
  Object.assign(element, {
    clientWidth: 300,
    clientHeight: 200,
    style: {},
    getBoundingClientRect: () => ({ left: 10, top: 20, width: element.clientWidth, height: element.clientHeight }),
  });
  const seen = { changes: [], rests: [], clicks: [], hovers: [], stretches: [] };
  const camera = createCamera({
    element,
    home: HOME,
    reducedMotion: true,
    onchange: (view) => seen.changes.push(view),
    onrest: (view) => seen.rests.push(view),
    onclick: (at) => seen.clicks.push(at),
    onhover: (at) => seen.hovers.push(at),
    onstretch: (stretch) => seen.stretches.push(stretch),
    ...options,
  });
  const send = (type, properties = {}) => {
    const event = Object.assign(new Event(type, { cancelable: true }), { pointerId: 1, button: 0, ...properties });
    element.dispatchEvent(event);
    return event;
  };
  return { element, camera, seen, send };
}

const close = (actual, expected, slack = 1e-12) =>
  actual.forEach((value, axis) => {
    assert.ok(Math.abs(value - expected[axis]) <= slack * Math.max(1, Math.abs(expected[axis])), `${actual} is not ${expected}`);
  });

test("the view has the shape of the element and holds all of home", () => {
  assert.deepEqual(fitted({ center: [0, 0], reach: [3, 1] }, 1.5).reach, [3, 2]);
  assert.deepEqual(fitted({ center: [0, 0], reach: [1, 2] }, 1.5).reach, [3, 2]);
  assert.deepEqual(stage().camera.view(), HOME);
});

test("the wheel zooms about the point under the pointer", () => {
  const { camera, send, seen } = stage();
  const at = { clientX: 10 + 225, clientY: 20 + 50 };
  const before = camera.pointAt([at.clientX, at.clientY]);
  close(before, [3.75, -1.5]);
  const event = send("wheel", { ...at, deltaY: -300, deltaMode: 0 });
  assert.ok(event.defaultPrevented);
  assert.ok(camera.view().reach[1] < 0.7);
  close(camera.pointAt([at.clientX, at.clientY]), before);
  assert.equal(seen.changes.length, 1);
});

test("the wheel scrolls the page where it is told to, but with Ctrl it zooms", () => {
  const { camera, send } = stage({ wheels: () => false });
  assert.ok(!send("wheel", { clientX: 0, clientY: 0, deltaY: 100, deltaMode: 0 }).defaultPrevented);
  assert.deepEqual(camera.view(), HOME);
  assert.ok(send("wheel", { clientX: 0, clientY: 0, deltaY: 10, deltaMode: 0, ctrlKey: true }).defaultPrevented);
  assert.ok(camera.view().reach[1] > 1);
});

test("a drag takes the plane along, and the view rests when it ends", () => {
  const { camera, send, seen } = stage();
  const grabbed = camera.pointAt([100, 100]);
  send("pointerdown", { clientX: 100, clientY: 100 });
  send("pointermove", { clientX: 130, clientY: 110 });
  send("pointermove", { clientX: 160, clientY: 140 });
  close(camera.pointAt([160, 140]), grabbed);
  assert.equal(seen.rests.length, 0);
  send("pointerup", { clientX: 160, clientY: 140 });
  assert.equal(seen.rests.length, 1);
  assert.equal(seen.clicks.length, 0);
});

test("a press that hardly moves is a click, in plane coordinates", () => {
  const { camera, send, seen } = stage();
  send("pointerdown", { clientX: 160, clientY: 120 });
  send("pointermove", { clientX: 162, clientY: 121 });
  send("pointerup", { clientX: 160, clientY: 120 });
  close([seen.clicks[0].x, seen.clicks[0].y], [3, -2]);
  assert.deepEqual(camera.view(), HOME);
  assert.deepEqual([seen.changes.length, seen.rests.length], [0, 0]);
});

test("another button of the mouse does nothing", () => {
  const { send, seen } = stage();
  send("pointerdown", { clientX: 160, clientY: 120, button: 2 });
  send("pointerup", { clientX: 160, clientY: 120, button: 2 });
  assert.equal(seen.clicks.length, 0);
});

test("with Shift a drag is a line, and moves nothing", () => {
  const { camera, send, seen } = stage();
  send("pointerdown", { clientX: 10, clientY: 220, shiftKey: true });
  send("pointermove", { clientX: 160, clientY: 120, shiftKey: true });
  send("pointerup", { clientX: 310, clientY: 20 });
  assert.deepEqual(seen.stretches.map((one) => one.isDone), [false, true]);
  close(seen.stretches[1].ends.flat(), [1.5, -3, 4.5, -1]);
  assert.deepEqual(camera.view(), HOME);
});

test("two fingers zoom about their middle and take the plane along", () => {
  const { camera, send, seen } = stage();
  const middle = camera.pointAt([160, 120]);
  send("pointerdown", { pointerId: 1, clientX: 130, clientY: 120 });
  send("pointerdown", { pointerId: 2, clientX: 190, clientY: 120 });
  send("pointermove", { pointerId: 1, clientX: 110, clientY: 110 });
  send("pointermove", { pointerId: 2, clientX: 230, clientY: 150 });
  assert.ok(camera.view().reach[1] < 0.6);
  close(camera.pointAt([170, 130]), middle, 1e-9);
  send("pointerup", { pointerId: 1, clientX: 110, clientY: 110 });
  send("pointerup", { pointerId: 2, clientX: 230, clientY: 150 });
  assert.deepEqual([seen.clicks.length, seen.rests.length], [0, 1]);
});

test("two fingers that do nothing change nothing", () => {
  const { send, seen } = stage();
  for (const pointerId of [1, 2]) send("pointerdown", { pointerId, clientX: 100 + 10 * pointerId, clientY: 100 });
  for (const pointerId of [1, 2]) send("pointerup", { pointerId, clientX: 100 + 10 * pointerId, clientY: 100 });
  assert.deepEqual([seen.clicks.length, seen.changes.length, seen.rests.length], [0, 0, 0]);
});

test("a finger that stays after a pinch drags on", () => {
  const { camera, send } = stage();
  send("pointerdown", { pointerId: 1, clientX: 130, clientY: 120 });
  send("pointerdown", { pointerId: 2, clientX: 190, clientY: 120 });
  send("pointerup", { pointerId: 1, clientX: 130, clientY: 120 });
  const grabbed = camera.pointAt([190, 120]);
  send("pointermove", { pointerId: 2, clientX: 220, clientY: 130 });
  close(camera.pointAt([220, 130]), grabbed);
});

test("keys move, zoom and go home, and others are left to the page", () => {
  const { camera, send } = stage();
  assert.ok(send("keydown", { key: "ArrowRight" }).defaultPrevented);
  assert.ok(camera.view().center[0] > 3);
  send("keydown", { key: "ArrowUp" });
  assert.ok(camera.view().center[1] > -2);
  send("keydown", { key: "+" });
  assert.ok(camera.view().reach[1] < 1);
  send("keydown", { key: "0" });
  assert.deepEqual(camera.view(), HOME);
  assert.ok(!send("keydown", { key: "a" }).defaultPrevented);
  for (const held of ["ctrlKey", "altKey", "metaKey"]) assert.ok(!send("keydown", { key: "+", [held]: true }).defaultPrevented);
});

test("the deepest view is 10^12 times smaller than home, and nothing goes beyond", () => {
  const { camera } = stage();
  camera.zoomBy(1e15, [3.7, -2.4]);
  close(camera.view().reach, [1.5e-12, 1e-12], 0);
  assert.ok(camera.isDeepest());
  const before = camera.view();
  camera.zoomBy(2, [3, -2]);
  assert.deepEqual(camera.view(), before);
  camera.zoomBy(1e-30);
  assert.ok(camera.view().reach[1] <= 64);
});

test("views that are no numbers are not taken", () => {
  const { camera } = stage();
  camera.set({ center: [NaN, 0], reach: [1, 1] });
  assert.deepEqual(camera.view(), HOME);
});

test("another size of the element keeps the height of the view", () => {
  const { element, camera, seen } = stage();
  element.clientWidth = 600;
  element.resized();
  assert.deepEqual(camera.view().reach, [3, 1]);
  assert.equal(seen.changes.length, 1);
});

test("the view rests a moment after the wheel, once", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { send, seen } = stage();
  for (let turn = 0; turn < 5; turn++) {
    send("wheel", { clientX: 160, clientY: 120, deltaY: -50, deltaMode: 0 });
    mock.timers.tick(50);
  }
  assert.equal(seen.rests.length, 0);
  mock.timers.tick(200);
  assert.equal(seen.rests.length, 1);
  mock.timers.reset();
});

test("a thrown view coasts and rests when it has stopped; with reduced motion it does not", () => {
  const throwView = (reducedMotion) => {
    const { camera, element, seen } = stage({ reducedMotion });
    ["pointerdown", "pointermove", "pointermove", "pointermove", "pointerup"].forEach((type, step) => {
      const event = Object.assign(new Event(type), { pointerId: 1, button: 0, clientX: 100 + 20 * Math.min(step, 3), clientY: 100 });
      Object.defineProperty(event, "timeStamp", { value: 16 * step });
      element.dispatchEvent(event);
    });
    const released = camera.view().center[0];
    const began = performance.now();
    let step = 0;
    while (frames.length) frames.shift()(began + 16 * step++);
    return { coasted: released - camera.view().center[0], steps: step, rests: seen.rests.length };
  };
  const thrown = throwView(false);
  assert.ok(thrown.coasted > 0.1 && thrown.coasted < 3, `coasted ${thrown.coasted}`);
  assert.ok(thrown.steps > 10 && thrown.steps < 100);
  assert.equal(thrown.rests, 1);
  assert.deepEqual(throwView(true), { coasted: 0, steps: 0, rests: 1 });
});

test("after it is disposed a camera hears nothing", () => {
  const { camera, send, seen } = stage();
  camera.dispose();
  send("wheel", { clientX: 0, clientY: 0, deltaY: 100, deltaMode: 0 });
  assert.equal(seen.changes.length, 0);
});
