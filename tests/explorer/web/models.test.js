// The two models of pages: questions over HTTP, and a snapshot that answers by itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { createPageModel } from "../../../src/reluscope/explorer/web/page.js";
import { BEGINNING } from "../../../src/reluscope/explorer/web/state.js";
import { createStillModel, readAnswers } from "../../../src/reluscope/explorer/web/still.js";
import { namedArrays, unpack } from "../../../src/reluscope/explorer/web/unpack.js";

function packed(header, arrays = {}) {
  const listed = [];
  let offset = 0;
  for (const [name, array] of Object.entries(arrays)) {
    offset = 8 * Math.ceil(offset / 8);
    const dtype = array.constructor.name.replace("Array", "").toLowerCase();
    listed.push({ name, dtype, shape: [array.length], offset });
    offset += array.byteLength;
  }
  let text = JSON.stringify({ ...header, arrays: listed });
  const bytesOf = (string) => new TextEncoder().encode(string);
  while (bytesOf(text).length % 8) text += " ";
  const head = bytesOf(text);
  const bytes = new Uint8Array(8 + head.length + offset);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 8);
  for (const { name, offset: at } of listed) bytes.set(new Uint8Array(arrays[name].buffer), 8 + head.length + at);
  return bytes;
}

function heard(model) {
  const waiting = [];
  model.on("msg:custom", (header, buffers) => waiting.shift()?.({ header, buffers }));
  return (question) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      model.send(question);
    });
}

test("an answer is unpacked wherever its header ends", () => {
  for (const name of ["a", "ab", "äöü", "12345678"]) {
    const bytes = packed({ answer: "values", name }, { rows: new Int32Array([1, 2, 3]), values: new Float64Array([0.5, -2]) });
    const { header, buffers } = unpack(bytes.buffer);
    assert.equal(header.name, name);
    const arrays = namedArrays(header, buffers);
    assert.deepEqual([...arrays.rows, ...arrays.values], [1, 2, 3, 0.5, -2]);
  }
});

function fakeBrowser(respond, hash = "#token=key&by=area") {
  const asked = [];
  const browser = {
    asked,
    location: { hash },
    history: { replaceState: (_, __, address) => {
        browser.location.hash = address;
      } },
    fetch: async (address, options) => {
      asked.push({ address, ...options });
      return respond();
    },
  };
  return browser;
}

test("a page asks with the key of its address, and keeps it there beside the state", async () => {
  const bytes = packed({ answer: "hello", seq: 3 });
  const browser = fakeBrowser(() => ({ ok: true, arrayBuffer: async () => bytes.buffer }));
  const model = createPageModel(browser);
  assert.deepEqual(model.get("initial"), { by: "area" });
  const { header } = await heard(model)({ ask: "hello", seq: 3 });
  assert.equal(header.answer, "hello");
  assert.equal(browser.asked[0].address, "/ask");
  assert.equal(browser.asked[0].headers.Authorization, "Bearer key");
  model.remember({ ...BEGINNING, by: "rate" });
  assert.equal(browser.location.hash, "#token=key&by=rate");
});

test("a server that is gone and one that refuses are told apart", async () => {
  const gone = createPageModel(fakeBrowser(() => Promise.reject(new TypeError("Failed to fetch"))));
  const refused = createPageModel(fakeBrowser(() => ({ ok: false, arrayBuffer: async () => new ArrayBuffer(0) })));
  const [first, second] = await Promise.all([heard(gone)({ ask: "hello", seq: 1 }), heard(refused)({ ask: "hello", seq: 2 })]);
  assert.match(first.header.message, /run the command again/);
  assert.match(second.header.message, /refuses/);
  assert.deepEqual([first.header.seq, second.header.kind], [1, "connection"]);
});

// A square of two triangles; the diagonal is the side between them.
const PLANE = {
  corners: new Float32Array([-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1]),
  piece_offsets: new Int32Array([0, 3, 6]),
  piece_region: new Int32Array([0, 1]),
  region_area: new Float32Array([8, 8]),
  region_class: new Int16Array([1, 0]),
  edge_ends: new Float32Array([-1, -1, 1, 1]),
  edge_regions: new Int32Array([0, 1]),
  edge_gate: new Int16Array([0]),
  edge_unit: new Int32Array([5]),
};

function still() {
  const answers = [
    packed({ answer: "hello", still: true, class_names: ["no", "yes"], model: { gates: [{ name: "relu" }] } }),
    packed({ answer: "partition", version: 4, window: { center: [0, 0], reach: [2, 2] } }, PLANE),
    packed({ answer: "values", question: { of: "norm" } }, { values: new Float32Array([1, 2]) }),
    packed({ answer: "values", question: { of: "prefix", gates: 1 } }, { values: new Int32Array([0, 0]) }),
  ];
  const parts = answers.flatMap((bytes) => {
    const head = new Uint8Array(8);
    new DataView(head.buffer).setUint32(0, bytes.length, true);
    return [head, bytes, new Uint8Array((8 - (bytes.length % 8)) % 8)];
  });
  const whole = Buffer.concat(parts);
  return readAnswers(gzipSync(whole).toString("base64"));
}

test("a snapshot answers what it holds, and says of the rest where it is", async () => {
  const ask = heard(createStillModel(still()));
  const hello = await ask({ ask: "hello", seq: 1 });
  assert.deepEqual(hello.header.held, [{ of: "norm" }, { of: "prefix", gates: 1 }]);
  const plane = await ask({ ask: "partition", seq: 2, window: { center: [9, 9], reach: [1, 1] } });
  assert.equal(plane.header.seq, 2);
  const prefix = await ask({ ask: "values", seq: 3, of: "prefix", gates: 1, version: 4 });
  assert.deepEqual([...namedArrays(prefix.header, prefix.buffers).values], [0, 0]);
  const unit = await ask({ ask: "values", seq: 4, of: "unit", gate: 0, unit: 0 });
  assert.equal(unit.header.answer, "error");
  assert.match(unit.header.message, /reluscope explore/);
});

test("a snapshot makes the card of a region from the sides of its plane", async () => {
  const { header } = await heard(createStillModel(still()))({ ask: "region", seq: 1, row: 1, version: 4 });
  assert.deepEqual([header.class, header.class_name], [0, "no"]);
  assert.deepEqual(header.area, { value: 8, claim: "LOWER" }, "the window ends where the region does");
  assert.equal(header.sides.length, 1);
  assert.deepEqual([header.sides[0].neighbor, header.sides[0].unit, header.sides[0].flips], [0, 5, "unit 5 of relu flips"]);
  assert.ok(Math.abs(header.sides[0].length - Math.hypot(2, 2) * 2) < 1e-6);
  const other = await heard(createStillModel(still()))({ ask: "region", seq: 1, row: 0, version: 4 });
  assert.equal(other.header.sides[0].neighbor, 1);
});

test("a snapshot that is not whole says so", async () => {
  const broken = readAnswers("bm90IGd6aXA=");
  const { header } = await heard(createStillModel(broken))({ ask: "hello", seq: 1 });
  assert.equal(header.answer, "error");
  assert.match(header.message, /not whole/);
});
