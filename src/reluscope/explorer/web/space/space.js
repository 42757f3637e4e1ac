// Space: the solid that a network of three inputs cuts its box into, or a surface in it, beside the plane that slices it.
//
// A script of its own, before the explorer's module where a network has three inputs: the explorer calls what it leaves.

import { capital, make, refill } from "../elements.js";
import { listen } from "../gestures.js";
import { toRelative } from "../places.js";
import { className, count, number } from "../words.js";
import { watchVisibility } from "../visibility.js";
import { controlsOf, countsOf, isThere, QUESTIONS } from "./controls.js";
import { createDrawing } from "./drawing.js";
import { boxLines, lineLayer, sectionLayer, sectionOf, solidLayer } from "./layers.js";
import { classAt, meshOf } from "./mesh.js";
import { along, clamp, dot, turned, viewOf } from "./orbit.js";
import { readSettings, settingsText, SHOWS } from "./settings.js";
import { kindOf, paletteOf, shadesOf, sideNames, sidesOf } from "./shades.js";
import { anchorsOf, axesOf, inBox, meetPlane, onPlane, planeOf } from "./slicing.js";
import style from "./space.css";

const SAID = "Space: arrows turn it, + and − zoom, [ and ] move the plane, Enter opens the region in the middle.";
const PER_PIXEL = 0.008; // radians
const STEP = 0.12;
const REST = 350; // milliseconds after which a view is a choice
const MOST_MOVING = 400_000; // entries of edges, four to each
const INSIDE = 0.02; // of the way from the place that was clicked to the middle of its region

globalThis.reluscopeSpace = openSpace;

/**
 * Put space beside the stage of an explorer; the result takes it away.
 * @param {object} explorer its body, stage, hello, asker, store, looking, announce, theme, and the colours of classes
 */
function openSpace({ body, stage, hello, asker, store, looking, announce, theme, colours }) {
  if (!hello.space) return () => {};
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  const root = body.getRootNode();
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];

  const canvas = make("canvas", { "aria-hidden": "true" });
  const surface = make("div.surface", { tabindex: "0", role: "application", "aria-label": SAID }, canvas);
  const hover = make("div.hover", { "aria-hidden": "true", hidden: true });
  const knob = hello.still ? null : make("button.knob", { role: "slider", "aria-label": "move the plane", title: "Drag: the plane moves through the solid" }, "⇕");
  const counts = countsOf();
  const controls = controlsOf({ hello, change, face, step: (by) => slide(by * STEP * Math.sign(toward())), slices: !hello.still });
  const element = make("div.room", surface, knob, counts.element, hover, controls.element);
  const pair = make("div.pair");
  stage.element.replaceWith(pair);
  pair.append(element, stage.element);

  const drawing = createDrawing(canvas);
  const answers = new Map();
  const numClasses = hello.is_classifier ? Math.max(2, hello.model.num_outputs) : 0;
  let settings = known(readSettings(store.get().space));
  let room = hello.space;
  let mesh = null;
  let plane = null; // where the picture of the plane lies
  let pending = null; // where the plane will lie
  let section = null; // its widest picture
  let isMoving = false;
  let isFirst = !hello.still;
  let outlined = ""; // what the outline of the plane was drawn of
  let [hovered, chosen] = [-1, -1];
  let [frame, timer] = [0, 0];

  /** Return settings that there is something to show for. */
  function known(read) {
    return isThere(read.show, hello) ? read : { ...read, show: SHOWS.find((show) => isThere(show, hello)) };
  }
  const reachOf = () => room.reach.map((one) => one / Math.max(...room.reach));
  const aspect = () => Math.max(1, surface.clientWidth) / Math.max(1, surface.clientHeight);
  // What is pulled apart is seen from further away.
  const camera = () => viewOf({ ...settings, zoom: settings.zoom / (1 + spread()) }, aspect(), 2 + 2 * spread());
  const isSolid = () => (mesh === null ? shows("cells") : mesh.header.of === QUESTIONS.cells);
  const spread = () => (isSolid() ? settings.explode : 0);
  const shows = (what) => settings.show === what;
  const current = () => pending ?? plane;
  const toward = () => (plane ? dot(plane.normal, camera().eye) - plane.offset : 1);
  const isCut = () => settings.cut === 1 && spread() === 0 && plane !== null;
  /** The half-space before the plane, which is cut away. */
  function cutting() {
    if (!isCut()) return undefined;
    const sign = Math.sign(toward()) || 1;
    return [...plane.normal.map((one) => sign * one), sign * plane.offset + 1e-5];
  }

  const isSmall = ({ scale }) => scale < 0.6 * Math.max(...hello.space.reach);

  // What is shown.

  async function ask() {
    const { epoch } = store.get();
    const question = { ask: "space", of: QUESTIONS[settings.show] };
    if (shows("level")) Object.assign(question, { output: Math.min(settings.output, hello.model.num_outputs - 1), level: settings.level });
    if (epoch !== null) question.epoch = epoch;
    const key = JSON.stringify(question);
    try {
      if (!answers.has(key)) {
        const answer = await asker.latest("space", question, ({ seconds, regions }) =>
          counts.busy(`Cutting space … ${count(regions ?? 0)} regions, ${Math.round(seconds)} s`));
        if (answer === null) return;
        if (answers.size > 8) answers.clear();
        answers.set(key, meshOf(answer));
      }
      mesh = answers.get(key);
      if (isFirst && shows("cells") && store.get().space === null && isSmall(mesh.header)) {
        // Of a solid of too many cells the surface in it says more than a crumb.
        isFirst = false;
        settings = { ...settings, show: hello.is_classifier ? "decision" : "level", cut: 0 };
        controls.show(settings);
        void ask();
        return;
      }
      isFirst = false;
      point(null);
      room = mesh.header.room;
      refreshPlane();
      upload();
      counts.show(mesh.header, settings.show);
      announce(counts.element.textContent);
    } catch (error) {
      counts.busy(error.message);
    }
  }

  function upload() {
    if (mesh) drawing.put("solid", solidLayer(mesh, numClasses));
    const { corners, pairs } = boxLines(reachOf());
    drawing.put("box", lineLayer(pairs.map(([one, other]) => [corners[one], corners[other]])));
    uploadSection();
    colour();
  }

  function uploadSection() {
    drawing.put("section", section && plane ? sectionLayer(section, plane) : null);
  }

  function refreshPlane() {
    const picture = looking.shown.get().plane;
    pending = null;
    plane = picture?.header.frame ? planeOf(picture.header.frame, room) : null;
    const isWider = section && picture && section.header.plane_id === picture.header.plane_id
      && section.header.window.reach[1] > picture.header.window.reach[1];
    if (!isWider) section = picture;
    const { selected } = store.get();
    chosen = selected && plane && mesh ? mesh.regionAt(inBox(plane, selected)) : -1;
  }

  function colour() {
    colourSolid();
    colourSection();
  }

  function colourSolid() {
    if (mesh && isSolid()) {
      const { piece_region: regions, region_class: of, region_rate: rate, region_random: random } = mesh.arrays;
      drawing.colour("solid", shadesOf(kindOf(store.get().by, hello), {
        range: rangeOf(), regions, rate, random, classes: of && regions.map((one) => of[one]),
      }, hello, colours));
    } else if (mesh) {
      const [behind, before] = sidesOf(mesh.arrays.offsets.length - 1, mesh.arrays.piece_classes, hello, colours);
      drawing.colour("solid", before, behind);
    }
    draw();
  }

  function colourSection() {
    if (section) {
      const { piece_region: regions, piece_class: classes, region_rate: rate, region_random: random } = section.arrays;
      drawing.colour("section", shadesOf(kindOf(store.get().by, hello), { range: rangeOf(), regions, classes, rate, random }, hello, colours));
    }
    draw();
  }

  /** The lowest and the highest share of units that are on, in the box where that is known. */
  function rangeOf() {
    const rates = mesh?.arrays.region_rate ?? section?.arrays.region_rate ?? [];
    let [low, high] = [1, 0];
    for (const one of rates) [low, high] = [Math.min(low, one), Math.max(high, one)];
    return [low, high];
  }

  function draw() {
    frame ||= requestAnimationFrame(drawNow);
  }

  function drawNow() {
    frame = 0;
    const ratio = globalThis.devicePixelRatio || 1;
    const [wide, high] = [surface.clientWidth, surface.clientHeight].map((side) => Math.max(1, Math.round(side * ratio)));
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    const view = camera();
    const reach = reachOf();
    const ink = theme.isDark ? [0.04, 0.05, 0.07] : [0.1, 0.12, 0.15];
    const line = theme.isDark ? [0.85, 0.88, 0.92] : ink;
    const { edges } = store.get();
    drawing.clear();
    if (mesh) {
      const isWhole = isSolid() && spread() === 0;
      const isClass = isSolid() && kindOf(store.get().by, hello) === "class" && mesh.arrays.scores !== undefined;
      drawing.draw("solid", view, {
        reach, cut: cutting(), explode: spread(), hovered, chosen,
        classes: isClass ? numClasses : 0, palette: paletteOf(numClasses, hello, colours), twoSided: !isSolid(),
        triangles: isWhole ? mesh.outer.triangles : mesh.triangles.length / 2,
        edges: isWhole ? mesh.outer.edges : mesh.edges.length / 2,
        // Of many polygons edges are drawn when the view rests.
        ink: edges === "none" || (isMoving && mesh.edges.length > MOST_MOVING && !isWhole) ? null : [...ink, isSolid() ? 0.55 : 0.25],
      });
      if (isSolid() && isCut()) drawSection(view, reach, edges === "none" ? null : [...ink, 0.5]);
    }
    if (spread() === 0) drawing.draw("box", view, { reach, triangles: 0, edges: 24, ink: [...line, 0.5] });
    drawOutline(view, reach, line);
  }

  function drawSection(view, reach, ink) {
    const { piece_offsets: offsets } = section.arrays;
    const [corners, pieces] = [offsets[offsets.length - 1], offsets.length - 1];
    drawing.draw("section", view, { reach, light: 0.25, triangles: 3 * (corners - 2 * pieces), edges: 2 * corners, ink });
  }

  /** The border of the plane within the box, and the knob that moves it. */
  function drawOutline(view, reach, line) {
    const where = current();
    const ring = where === null || spread() > 0 ? [] : sectionOf(where, reach);
    if (knob) knob.hidden = ring.length === 0;
    if (ring.length === 0) return;
    const key = ring.join();
    if (key !== outlined) drawing.put("outline", lineLayer(ring.map((one, at) => [one, ring[(at + 1) % ring.length]])));
    outlined = key;
    drawing.draw("outline", view, { reach, triangles: 0, edges: 2 * ring.length, ink: [...line, 1], nearer: 1e-3 });
    if (!knob) return;
    const [x, y] = view.project(middleOf(ring));
    knob.style.left = `${50 + 50 * x}%`;
    knob.style.top = `${50 - 50 * y}%`;
    const [right, up] = across(view, ring);
    knob.style.rotate = `${Math.atan2(right, up)}rad`;
    knob.setAttribute("aria-valuenow", number(where.offset));
  }
  const middleOf = (ring) => ring.reduce((sum, one) => along(sum, one, 1 / ring.length), [0, 0, 0]);

  /** How many pixels to the right and up a small move of the plane along its normal is, for one unit. */
  function across(view, ring) {
    const middle = middleOf(ring);
    const [from, to] = [middle, along(middle, current().normal, 1e-3)].map(view.project);
    return [((to[0] - from[0]) * surface.clientWidth) / 2e-3, ((to[1] - from[1]) * surface.clientHeight) / 2e-3];
  }

  // What the reader does.

  function change(patch, isChoice = true) {
    const before = settings;
    settings = { ...settings, ...patch };
    clearTimeout(timer);
    isMoving = !isChoice;
    if (isChoice) keep();
    else timer = setTimeout(keep, REST);
    controls.show(settings);
    if (["show", "output", "level"].some((key) => settings[key] !== before[key])) void ask();
    draw();
  }
  function keep() {
    if (isMoving) draw();
    isMoving = false;
    store.set({ space: settingsText(settings) });
  }

  /** Look at another plane. */
  function cutAt({ normal, offset }, selected = null) {
    const most = normal.reduce((sum, one, axis) => sum + Math.abs(one) * reachOf()[axis], 0);
    const kept = clamp(offset, -0.999 * most, 0.999 * most);
    pending = { normal, offset: kept };
    store.set({ anchors: anchorsOf(pending, room), window: null, line: null, selected, ...(selected ? { tab: "region" } : {}) });
    draw();
  }
  function slide(by) {
    const where = current();
    if (where && !hello.still) cutAt({ normal: where.normal, offset: where.offset + by });
  }
  function face(normal) {
    const toEye = camera().toEye.map((one) => Math.round(100 * one) / 100);
    const size = Math.hypot(...toEye);
    cutAt({ normal: normal ?? toEye.map((one) => one / size), offset: 0 });
  }

  /** Return what is seen at a place of the screen. */
  function seenAt([x, y]) {
    const { left, top, width, height } = surface.getBoundingClientRect();
    const view = camera();
    const ray = view.ray([(2 * (x - left)) / width - 1, 1 - (2 * (y - top)) / height]);
    const cut = cutting();
    const kept = cut && ((place) => dot(cut, place) <= cut[3]);
    const hit = mesh?.pick(view.eye, ray, { explode: spread(), kept }) ?? null;
    if (!isSolid() || !isCut()) return hit;
    const away = meetPlane(view.eye, ray, plane);
    const place = away === null ? null : along(view.eye, ray, away);
    const isIn = place?.every((one, axis) => Math.abs(one) <= reachOf()[axis]);
    return isIn && (hit === null || away < hit.away) ? { place, on: onPlane(plane, place) } : hit;
  }

  function point(at, event) {
    const seen = at === null ? null : seenAt(at);
    const region = seen?.region ?? (seen?.on && mesh ? mesh.regionAt(seen.place) : -1);
    if (region !== hovered) {
      hovered = region;
      draw();
    }
    hover.hidden = seen === null || event?.pointerType === "touch";
    if (hover.hidden) return;
    refill(hover, wordsOf(seen, region).map((line) => make("div", line)));
    const { left, top, width } = element.getBoundingClientRect();
    const [x, y] = [at[0] - left, at[1] - top];
    hover.style.left = `${x + 16 + hover.offsetWidth > width ? x - 16 - hover.offsetWidth : x + 16}px`;
    hover.style.top = `${y + 16}px`;
  }

  function wordsOf(seen, region) {
    const { arrays } = mesh;
    if (arrays.piece_classes) return [`between ${sideNames(arrays.piece_classes, seen.piece, hello).join(" and ")}`];
    if (!arrays.region_rate) return [`output ${mesh.header.output} is ${number(mesh.header.level)}`];
    const one = classOf(seen, region);
    const units = hello.model.gates.filter((gate) => gate.pieces === 2).reduce((sum, gate) => sum + gate.units, 0);
    return [
      one >= 0 && make("b", capital(className(hello, one))),
      region >= 0 && units > 0 && `${count(Math.round(arrays.region_rate[region] * units))} of ${count(units)} units on`,
      region >= 0 && `volume in the box ${number(arrays.region_volume[region] )}`,
    ].filter(Boolean);
  }
  function classOf(seen, region) {
    if (!hello.is_classifier) return -1;
    if (seen.on) {
      const { plane: picture, picker } = looking.shown.get();
      const found = picker?.at(...toRelative(picture, seen.on));
      return found ? picture.arrays.piece_class[found.piece] : -1;
    }
    const { scores, region_class: classes } = mesh.arrays;
    return scores ? classAt(scores, numClasses, seen.shares) : (classes?.[region] ?? -1);
  }

  /** Open the card of what is seen: the plane goes there, if it is not there already. */
  function pick(at) {
    const seen = seenAt(at);
    if (seen === null) return;
    if (seen.on) store.set({ selected: seen.on, tab: "region" });
    else if (hello.still) announce("A snapshot holds one plane: reluscope explore moves it.");
    else {
      const middle = seen.region >= 0 ? [...mesh.arrays.region_middle.subarray(3 * seen.region, 3 * seen.region + 3)] : seen.place;
      const inside = along(seen.place, along(middle, seen.place, -1), INSIDE);
      const normal = current()?.normal ?? [0, 0, 1];
      const anchors = anchorsOf({ normal, offset: dot(normal, inside) }, room);
      const basis = axesOf(normal);
      const next = planeOf({ origin: anchors[0].at, basis }, room);
      cutAt({ normal, offset: dot(normal, inside) }, onPlane(next, inside));
    }
  }

  const quarter = 0.15;
  const turns = { ArrowLeft: [quarter, 0], ArrowRight: [-quarter, 0], ArrowUp: [0, quarter], ArrowDown: [0, -quarter] };
  function key(pressed) {
    const turn = turns[pressed];
    const nearer = { "+": 1.25, "=": 1.25, "-": 0.8 }[pressed];
    const move = { "[": -1, "]": 1 }[pressed];
    if (turn) change(turned(settings, turn.map((one) => -one)), false);
    else if (nearer) change(turned(settings, [0, 0], nearer), false);
    else if (move) slide(move * 0.4 * STEP * Math.sign(toward()));
    else if (pressed === "0") change({ ...turned(readSettings(null), [0, 0]) });
    else if (pressed === "Enter") {
      const { left, top, width, height } = surface.getBoundingClientRect();
      pick([left + width / 2, top + height / 2]);
    } else return false;
    return true;
  }

  const silence = [
    listen(surface, {
      onbegin: () => point(null),
      onpan: ([right, down]) => change(turned(settings, [right * PER_PIXEL, down * PER_PIXEL]), false),
      onzoom: (factor) => change(turned(settings, [0, 0], factor), false),
      onend: () => {},
      onclick: pick,
      onhover: point,
      onstretch: () => {},
      onkey: key,
      stretches: () => false,
      wheels: () => body.classList.contains("page") || root.activeElement === surface,
    }),
    knob && dragKnob(),
    looking.shown.subscribe((_, changed) => {
      if (!changed.has("plane")) return;
      const wasFirst = section === null;
      refreshPlane();
      uploadSection();
      colourSection();
      // Colours of classes are known when a plane has been painted.
      if (wasFirst) queueMicrotask(colour);
      // The plane is asked for first: it is there sooner.
      if (mesh === null && !asker.isBusy("space")) void ask();
    }),
    store.subscribe((state, changed) => {
      if (changed.has("space") && state.space !== settingsText(settings)) {
        const before = settings;
        settings = known(readSettings(state.space));
        controls.show(settings);
        if (["show", "output", "level"].some((one) => settings[one] !== before[one])) void ask();
      }
      if (changed.has("epoch")) void ask();
      if (changed.has("selected")) refreshChosen();
      if (changed.has("by")) colour();
      else draw();
    }),
    watchSize(),
    watchContext(),
  ];
  function refreshChosen() {
    const { selected } = store.get();
    if (pending === null) chosen = selected && plane && mesh ? mesh.regionAt(inBox(plane, selected)) : -1;
  }

  function dragKnob() {
    let held = null; // where it was taken, beside its middle
    const screenOf = (view, ring) => {
      const { left, top, width, height } = surface.getBoundingClientRect();
      const [x, y] = view.project(middleOf(ring));
      return [left + (width * (1 + x)) / 2, top + (height * (1 - y)) / 2];
    };
    const away = (event) => {
      const view = camera();
      const ring = sectionOf(current(), reachOf());
      const [x, y] = screenOf(view, ring);
      return { right: event.clientX - x, up: y - event.clientY, along: across(view, ring) };
    };
    const listeners = {
      pointerdown(event) {
        knob.setPointerCapture(event.pointerId);
        held = away(event);
      },
      pointermove(event) {
        if (held === null) return;
        const now = away(event);
        const [right, up] = now.along;
        const size = right * right + up * up;
        const [dx, dy] = [now.right - held.right, now.up - held.up];
        // Seen along its normal a plane moves with the height of the pointer.
        if (size > 400) slide((dx * right + dy * up) / size);
        else {
          slide(dy / surface.clientHeight);
          held = now;
        }
      },
      pointerup: () => {
        held = null;
      },
      keydown(event) {
        const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        slide(by * 0.4 * STEP);
      },
    };
    for (const [name, act] of Object.entries(listeners)) knob.addEventListener(name, act);
    return () => {};
  }

  function watchSize() {
    const observer = new ResizeObserver(draw);
    observer.observe(surface);
    return () => observer.disconnect();
  }

  function watchContext() {
    const taken = drawing.gl.getExtension("WEBGL_lose_context");
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      drawing.restore();
      outlined = "";
      upload();
    });
    return watchVisibility(canvas, {
      onhide: () => drawing.gl.isContextLost() || taken?.loseContext(),
      onshow: () => drawing.gl.isContextLost() && taken?.restoreContext(),
    });
  }

  queueMicrotask(() => {
    const before = theme.onchange;
    theme.onchange = () => {
      before();
      draw();
    };
  });
  controls.show(settings);
  upload();

  return () => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    for (const end of silence) end?.();
    drawing.dispose();
  };
}
