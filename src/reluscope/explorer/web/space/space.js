// Space: the solid that a network of three inputs cuts its box into, or one of more inputs the slice through four points;
// or a surface in it, beside the plane that slices it.
//
// A script of its own, before the explorer's module where a network has three inputs or more: the explorer calls what it
// leaves.

import { make, refill } from "../elements.js";
import { listen } from "../gestures.js";
import { count } from "../words.js";
import { watchVisibility } from "../visibility.js";
import { controlsOf, countsOf, isThere, QUESTIONS } from "./controls.js";
import { createCorners } from "./corners.js";
import { createDrawing } from "./drawing.js";
import { boxLines, lineLayer, sectionLayer, sectionOf, solidLayer } from "./layers.js";
import { createKnob } from "./knob.js";
import { meshOf } from "./mesh.js";
import { along, clamp, dot, turned, viewOf } from "./orbit.js";
import { readSettings, settingsText, SHOWS } from "./settings.js";
import { wordsOf } from "./saying.js";
import { kindOf, paletteOf, shadesOf, sidesOf } from "./shades.js";
import { anchorsOf, axesOf, inBox, meetPlane, onPlane, planeOf, tidy } from "./slicing.js";
import style from "./space.css";

const SAID = "Space: arrows turn it, + and − zoom, [ and ] move the plane, Enter opens the region in the middle.";
const PER_PIXEL = 0.008; // radians
const STEP = 0.12;
const REST = 350; // milliseconds after which a view is a choice
const MOST_MOVING = 400_000; // entries of edges, four to each
const NOWHERE = { center: [0, 0, 0], reach: [1, 1, 1] }; // until an answer says what box it is
const INSIDE = 0.02; // of the way from the place that was clicked to the middle of its region

globalThis.reluscopeSpace = openSpace;

/**
 * Put space beside the stage of an explorer; the result takes it away.
 * @param {object} explorer its body, stage, hello, asker, store, looking, announce, theme, and the colours of classes
 */
function openSpace({ body, stage, hello, asker, store, looking, announce, theme, colours }) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  const root = body.getRootNode();
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];

  const canvas = make("canvas", { "aria-hidden": "true" });
  const surface = make("div.surface", { tabindex: "0", role: "application", "aria-label": SAID }, canvas);
  const hover = make("div.hover", { "aria-hidden": "true", hidden: true });
  const knob = hello.still ? null : createKnob({ surface, border, slide, step: 0.4 * STEP });
  const corners = createCorners();
  const counts = countsOf();
  const controls = controlsOf({ hello, change, face, step: (by) => slide(by * STEP * Math.sign(toward())), slices: !hello.still });
  const element = make("div.room", surface, corners.element, knob?.element, counts.element, hover, controls.element);
  const pair = make("div.pair");
  stage.element.replaceWith(pair);
  pair.append(element, stage.element);

  const drawing = createDrawing(canvas);
  const answers = new Map();
  const numClasses = hello.is_classifier ? Math.max(2, hello.model.num_outputs) : 0;
  let settings = known(readSettings(store.get().space));
  let room = hello.space ?? NOWHERE;
  let mesh = null;
  let plane = null; // where the picture of the plane lies
  let pending = null; // where the plane will lie
  let section = null; // its widest picture
  let network = null; // that the picture of the plane is of
  let later = 0;
  let isMoving = false;
  let isFirst = !hello.still;
  let outlined = ""; // what the outline of the plane was drawn of
  let [hovered, chosen] = [-1, -1];
  let [frame, timer] = [0, 0];
  let before = null; // what is done where the theme changes, without space
  let isGone = false;

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
  const isCut = () => settings.cut === 1 && spread() === 0 && plane !== null && sectionOf(plane, reachOf()).length > 0;
  /** The half-space before the plane, which is cut away. */
  function cutting() {
    if (!isCut()) return undefined;
    const sign = Math.sign(toward()) || 1;
    return [...plane.normal.map((one) => sign * one), sign * plane.offset + 1e-5];
  }

  const isSmall = ({ scale, home }) => scale < 0.6 * Math.max(...home.reach);

  // What is shown.

  /** Return the middle of the picture of the plane, in coordinates of the box; null where the plane is not known. */
  function middleOfPlane() {
    const { plane: picture } = looking.shown.get();
    const { frame, window } = picture?.header ?? {};
    return frame ? frame.origin.map((start, axis) => tidy(start + frame.basis.reduce((sum, one, k) => sum + window.center[k] * one[axis], 0))) : null;
  }

  /** Whether the plane has left the part of the box that is shown. */
  const isPlaneAway = () => mesh !== null && plane !== null && isPart(mesh.header) && sectionOf(plane, reachOf()).length === 0;
  const isPart = ({ scale, home }) => scale < 0.999 * Math.max(...home.reach);

  async function ask({ again = false } = {}) {
    const { epoch, solid } = store.get();
    const question = { ask: "space", of: QUESTIONS[settings.show] };
    if (shows("level")) Object.assign(question, { output: Math.min(settings.output, hello.model.num_outputs - 1), level: settings.level });
    if (epoch !== null) question.epoch = epoch;
    if (solid !== null) question.solid = solid;
    const key = JSON.stringify(question);
    // Of a box that is too large the part about the plane is shown.
    const about = hello.still ? null : middleOfPlane();
    if (about !== null) question.about = about;
    try {
      if (again || !answers.has(key)) {
        const answer = await asker.latest("space", question, ({ seconds, regions }) =>
          counts.busy(`Cutting space … ${count(regions ?? 0)} regions, ${Math.round(seconds)} s`));
        if (answer === null || isGone) return;
        if (answers.size > 8) answers.clear();
        answers.set(key, meshOf(answer));
      }
      mesh = answers.get(key);
      if (isFirst && hello.space && shows("cells") && store.get().space === null && isSmall(mesh.header)) {
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
    corners.place(view, spread() === 0 ? mesh?.header.corners : null, reach);
    if (spread() === 0) drawing.draw("box", view, { reach, triangles: 0, edges: 24, ink: [...line, 0.5] });
    drawOutline(view, reach, line);
  }

  function drawSection(view, reach, ink) {
    const { piece_offsets: offsets } = section.arrays;
    const [corners, pieces] = [offsets[offsets.length - 1], offsets.length - 1];
    drawing.draw("section", view, { reach, light: 0.25, triangles: 3 * (corners - 2 * pieces), edges: 2 * corners, ink });
  }

  /** Where the plane cuts the box. */
  function border() {
    const plane = current();
    return { view: camera(), plane, ring: plane === null || spread() > 0 ? [] : sectionOf(plane, reachOf()) };
  }

  /** The border of the plane within the box, and the knob that moves it. */
  function drawOutline(view, reach, line) {
    knob?.place();
    const { ring } = border();
    if (ring.length === 0) return;
    const key = ring.join();
    if (key !== outlined) drawing.put("outline", lineLayer(ring.map((one, at) => [one, ring[(at + 1) % ring.length]])));
    outlined = key;
    drawing.draw("outline", view, { reach, triangles: 0, edges: 2 * ring.length, ink: [...line, 1], nearer: 1e-3 });
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

  /** How points of the box are called: by their inputs, or by their place in a solid. */
  const placeKind = () => (store.get().solid === null ? "point" : "inside");

  /** Look at another plane. */
  function cutAt({ normal, offset }, selected = null) {
    const most = normal.reduce((sum, one, axis) => sum + Math.abs(one) * reachOf()[axis], 0);
    const kept = clamp(offset, -0.999 * most, 0.999 * most);
    pending = { normal, offset: kept };
    store.set({ anchors: anchorsOf(pending, room, placeKind()), window: null, line: null, selected, ...(selected ? { tab: "region" } : {}) });
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
    refill(hover, wordsOf(seen, region, { hello, mesh, looking, numClasses }).map((line) => make("div", line)));
    const { left, top, width } = element.getBoundingClientRect();
    const [x, y] = [at[0] - left, at[1] - top];
    hover.style.left = `${x + 16 + hover.offsetWidth > width ? x - 16 - hover.offsetWidth : x + 16}px`;
    hover.style.top = `${y + 16}px`;
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
    looking.shown.subscribe((_, changed) => {
      if (!changed.has("plane")) return;
      const wasFirst = section === null;
      // In a lesson the network is another one after each step; space is cut again in the first pause.
      const { epoch, fingerprint } = looking.shown.get().plane.header;
      if (hello.lesson && epoch === null && network !== null && fingerprint !== network) {
        clearTimeout(later);
        later = setTimeout(() => void ask({ again: true }), REST);
      }
      network = fingerprint;
      refreshPlane();
      uploadSection();
      colourSection();
      // Colours of classes are known when a plane has been painted.
      if (wasFirst) queueMicrotask(colour);
      // The plane is asked for first: it is there sooner.
      if ((mesh === null || isPlaneAway()) && !asker.isBusy("space")) void ask({ again: true });
    }),
    store.subscribe((state, changed) => {
      if (changed.has("space") && state.space !== settingsText(settings)) {
        const before = settings;
        settings = known(readSettings(state.space));
        controls.show(settings);
        if (["show", "output", "level"].some((one) => settings[one] !== before[one])) void ask();
      }
      if (changed.has("epoch") || changed.has("solid")) void ask();
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
    before = theme.onchange;
    theme.onchange = () => {
      before();
      draw();
    };
  });
  controls.show(settings);
  upload();

  return () => {
    clearTimeout(timer);
    clearTimeout(later);
    cancelAnimationFrame(frame);
    for (const end of silence) end?.();
    drawing.dispose();
    isGone = true;
    pair.replaceWith(stage.element);
    root.adoptedStyleSheets = root.adoptedStyleSheets.filter((one) => one !== sheet);
    if (before) theme.onchange = before;
  };
}
