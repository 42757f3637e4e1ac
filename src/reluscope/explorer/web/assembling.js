// One explorer put together: choices, what is shown, the stage, and the panels around it.

import { fitted } from "./camera.js";
import { colourPieces } from "./colours.js";
import { make, refill, sign, write } from "./elements.js";
import { watchDrags } from "./gestures.js";
import { createTravel } from "./goals.js";
import { listenToKeys } from "./keyboard.js";
import { createLooking, valuesQuestion } from "./looking.js";
import { anchorsPanel } from "./panels/anchors.js";
import { colouringPanel } from "./panels/colouring.js";
import { countsPanel, spoken } from "./panels/counts.js";
import { keysDialog } from "./panels/keys.js";
import { layersPanel } from "./panels/layers.js";
import { legendPanel } from "./panels/legend.js";
import { messagesPanel } from "./panels/messages.js";
import { regionPanel } from "./panels/region.js";
import { savingMenu } from "./panels/saving.js";
import { tabsPanel } from "./panels/tabs.js";
import { hoverPanel } from "./panels/hover.js";
import { topPanel } from "./panels/top.js";
import { insideRegion, isSameWindow, toPlane, within } from "./places.js";
import { createSampleMarks } from "./sample_marks.js";
import { createSamplePictures } from "./sample_pictures.js";
import { createStage } from "./stage.js";
import { BEGINNING, createHistory, createStore, isEqual } from "./state.js";
import { gateName } from "./words.js";

let explorers = 0;

/**
 * Put an explorer into an element; the result takes it apart.
 * @throws {NoWebGL}
 */
export function assemble({ body, model, asker, hello, theme, initial, reopen }) {
  const name = `explorer-${++explorers}`;
  const store = createStore(Object.freeze({ ...BEGINNING, by: hello.is_classifier ? "class" : "rate", ...(hello.lesson ? { tab: "learn" } : {}), ...known(initial) }));
  const history = createHistory(store, undefined, watchDrags(body));
  const live = make("p.unseen", { "aria-live": "polite" });
  const announce = (text) => write(live, text);
  const colours = new Map(); // classes keep theirs

  let shape = 0;
  const stage = createStage(
    { onview: () => hover.hide(), onrest, onhover: (at) => hover.point(at), onpick: (at) => pick([at.x, at.y]), online, onlost },
    { wheels: () => body.classList.contains("page") || body.getRootNode().activeElement === stage.surface },
  );
  const looking = createLooking({ asker, hello, store, aspect: stage.aspect });
  const { shown, can } = looking;
  const travel = createTravel({ camera: stage.camera, shown, announce });
  const homeWindow = () => shown.get().plane?.header.home ?? hello.home.window;

  const hover = hoverPanel({ hello, looking, stage });
  const legend = legendPanel({ store });
  const sampleMarks = createSampleMarks({ hello, asker });
  const anchors = () => store.get().solid ?? store.get().anchors ?? hello.home.anchors;
  // A script before this one leaves it; a snapshot has nobody to ask.
  const more = hello.still ? undefined : globalThis.reluscopeLive;
  // The plane of two inputs goes through no samples.
  const samples = hello.plane === "inputs" ? undefined : more?.samplesPanel({ hello, asker, anchors, put: (...choice) => dock?.put(...choice), show: () => store.set({ tab: "samples" }) });
  const dock = hello.plane === "inputs" ? null
    : anchorsPanel({ hello, store, samples, pictureOf: createSamplePictures({ hello, asker }), current: anchors, announce, hasSolids: hello.fourth && more && can("space") });
  const layers = layersPanel({ hello, store, can });
  const line = can("segment") && more?.linePanel({ hello, store, looking, hover: pointAlong });
  const tries = [
    ["Open the region in the middle", () => pick([...stage.camera().view().center])],
    !hello.still && ["Zoom in a hundred times", () => stage.camera().zoomBy(100)],
    layers && ["Watch layers fold the plane", layers.play],
    dock?.enterSpace && ["See it in space, with a fourth sample", dock.enterSpace],
    dock && line && ["Draw the line from A to B", () => shown.get().plane && online(shown.get().plane.header.anchors_at.slice(0, 2), true)],
  ].filter(Boolean);
  const region = regionPanel({ hello, store, looking, announce, walk, look: lookBeyond, tries });
  const codes = can("code_space") && hello.data !== null && more?.codesPanel({ hello, asker, store, looking, use: showSample });
  const training = hello.training && more?.trainingPanel({ hello, store, looking });
  // A script before this one leaves it, where a network is trained while it is looked at.
  const lesson = hello.lesson && globalThis.reluscopeLearn?.lessonPanel({ body, hello, asker, store, looking, hush, reopen: (focused) => reopen(store.get(), focused) });
  const keys = keysDialog(hello);
  const saving = savingMenu({
    pictures: { png: () => stage.scene.toBlob({ paper: paper() }), svg: () => stage.scene.toSvg({ paper: paper(), title: hello.model.name }) },
    exportAs: async (as) => {
      const { arrays } = await asker.ask({ ask: "export", version: shown.get().plane.header.version, as });
      return new Blob([arrays.bytes ?? Object.values(arrays)[0]]);
    },
    can, announce, linkable: Boolean(model.remember), fail: (message) => shown.set({ trouble: { kind: "input", message, retry: null } }),
  });
  const tabs = tabsPanel({
    store, name,
    tabs: [
      lesson && { key: "learn", label: "Learn", element: lesson.element },
      { key: "region", label: "Region", element: region.element },
      dock && samples && { key: "samples", label: "Samples", element: samples.element, open: once(samples.load) },
      line && { key: "line", label: "Line", element: line },
      codes && { key: "codes", label: "Codes", element: codes.element, open: codes.open },
      training && { key: "training", label: "Training", element: training.element },
    ].filter(Boolean),
  });
  const colouring = colouringPanel({ hello, store, name, can });
  stage.element.append(...[
    countsPanel({ hello, looking, homeWindow }), viewButtons(), messagesPanel({ looking, store }), hover.element,
    make("div.cross", { "aria-hidden": "true" }, "+")]);
  refill(body,
    topPanel({ hello, store, history, saving, keys }),
    colouring.element,
    make("div.middle",
      make("div.view", stage.element, lesson?.transport, make("div.under", colouring.unit, legend.element, layers?.element), dock?.element),
      make("aside.side", tabs)),
    live, keys.element);
  // A script before this one leaves it, where there are three inputs or more.
  let closeSpace;
  function openOrCloseSpace() {
    const isWanted = hello.space !== null || store.get().solid !== null;
    if (isWanted) closeSpace ??= globalThis.reluscopeSpace?.({ body, stage, hello, asker, store, looking, announce, theme, colours });
    else {
      closeSpace?.();
      closeSpace = undefined;
    }
  }
  openOrCloseSpace();

  function viewButtons() {
    const pen = make("button.tool", { "aria-pressed": "false", title: "Draw a line (L)", onclick: toggleLine }, "Line");
    store.subscribe((state) => pen.setAttribute("aria-pressed", String(state.tool === "line")));
    return make("div.view-buttons", { role: "group", "aria-label": "view" },
      sign("+", "zoom in", () => stage.camera().zoomBy(2)), sign("−", "zoom out", () => stage.camera().zoomBy(0.5)),
      sign("⌂", "the whole plane", () => stage.camera().home()),
      sign("∠", "next corner (X)", () => travel("corner")), sign("╱", "next boundary (B)", () => travel("boundary")),
      sign("▦", "densest place (D)", () => travel("densest")), can("segment") && pen);
  }
  const paper = () => getComputedStyle(body).backgroundColor;

  function toggleLine() {
    store.set({ tool: store.get().tool === "line" ? "move" : "line" });
  }

  function onrest(view) {
    if (looking.isWanted(view)) return;
    const { window: before } = store.get();
    const isReshaped = stage.aspect() !== shape;
    shape = stage.aspect();
    if (isReshaped && before === null) {
      // The reader did nothing but change the shape of the stage: home again, which is no step to undo.
      stage.camera().home();
      void looking.lookAtPlane();
      return;
    }
    const isHome = isSameWindow(view, fitted(homeWindow(), shape));
    const window = isHome ? null : { center: view.center, height: view.reach[1] };
    if (!isEqual(window, before)) store.set({ window });
    else if (isReshaped) void looking.lookAtPlane();
  }
  function viewOf(window) {
    const ratio = stage.aspect();
    return window === null ? fitted(homeWindow(), ratio) : { center: window.center, reach: [window.height * ratio, window.height] };
  }
  function online(ends, isDone) {
    stage.scene.stretch(ends);
    if (isDone) store.set({ line: ends, tab: "line", tool: "move" });
  }
  function onlost({ lost }) {
    shown.set({ trouble: lost ? { kind: "graphics", message: "The graphics card took the picture away: it comes back by itself.", retry: null } : null });
  }

  /** Let nothing be read aloud while pictures follow each other. */
  function hush(isPlaying) {
    for (const one of [live, body.querySelector(".counts")]) one?.setAttribute("aria-live", isPlaying ? "off" : "polite");
  }
  function pick(place) {
    if (lesson?.takes(place, (2 * stage.camera().view().reach[1]) / stage.surface.clientHeight)) return;
    store.set({ selected: place, tab: "region" });
  }
  function showSample(row) {
    const place = sampleMarks.placeOf(row);
    if (place !== null) pick(place);
    else dock?.put(2, { kind: "sample", row });
  }
  function walk(side) {
    const { plane } = shown.get();
    pick(toPlane(plane, insideRegion(plane, side.neighbor)));
    stage.surface.focus({ preventScroll: true });
  }
  function lookBeyond(side) {
    outline({ neighbor: side?.neighbor ?? -1 });
  }
  function outline(more = {}) {
    stage.scene.select({ region: shown.get().region?.header.row ?? -1, ...more });
  }
  function pointAlong(share) {
    const ends = store.get().line;
    mark(share === null || ends === null ? [] : [{ x: mix(ends, 0, share), y: mix(ends, 1, share), kind: "pointer" }]);
  }

  function mark(more = []) {
    const { plane, region: card } = shown.get();
    if (plane === null) return;
    const through = store.get().anchors ?? hello.home.anchors;
    const places = (plane.header.anchors_at ?? []).map(([x, y], at) => through[at]?.kind !== "inside" && { x, y, label: "ABC"[at], kind: "anchor" });
    stage.scene.marks([...sampleMarks.on(card?.header.samples_inside), ...places.filter(Boolean), ...more]);
  }

  function paint({ isNew = false } = {}) {
    const { plane, values } = shown.get();
    const state = store.get();
    const needed = valuesQuestion(state, hello);
    const isReady = isEqual(values?.question ?? null, needed);
    // The colours of before stay until the numbers for these have come.
    if (plane === null || !(isReady || isNew)) return;
    const isPrefix = isReady && needed?.of === "prefix";
    const by = isPrefix ? "prefix" : isReady ? state.by : "random";
    const coloured = colourPieces(plane, {
      by, values: values?.values, palettes: hello.palettes, hidden: new Set(state.hidden), memory: colours,
      classNames: hello.class_names ?? undefined, gateNames: hello.model.gates.map(gateName),
      numClasses: hello.is_classifier ? Math.max(hello.model.num_outputs, 2) : undefined,
    });
    stage.scene.style({ edges: state.edges, boundary: state.boundary && !isPrefix, dark: theme.isDark, gateShown: isPrefix ? needed.gates : null });
    stage.scene.colour(coloured);
    legend.show(coloured, by === "class" && sampleMarks.on().length > 0, isPrefix ? "Neighbours differ: regions of the first layers." : "Neighbours differ.");
  }

  shown.subscribe((now, changed) => {
    if (changed.has("plane")) {
      stage.scene.show(now.plane);
      const camera = stage.camera();
      if (now.plane.header.home) camera.setHome(now.plane.header.home);
      if (now.goTo && !isSameWindow(camera.view(), now.goTo)) camera.set(now.goTo);
      announce(spoken(now.plane));
      mark();
    }
    if (changed.has("plane") || changed.has("values")) paint({ isNew: changed.has("plane") });
    if (changed.has("region") || changed.has("plane")) outline();
    if (changed.has("region")) mark();
  });
  store.subscribe((state, changed) => {
    if (["by", "hidden", "edges", "boundary"].some((key) => changed.has(key))) paint();
    if (changed.has("solid")) openOrCloseSpace();
    if (changed.has("tool")) stage.draws(state.tool === "line");
    if (changed.has("line")) stage.scene.stretch(state.line);
    // An earlier choice may have come back.
    if (changed.has("window") && (state.window !== null || !changed.has("anchors"))) {
      const view = viewOf(state.window);
      if (!isSameWindow(view, stage.camera().view())) stage.camera().set(view);
    }
    model.remember?.(state);
  });
  theme.onchange = () => paint();
  if (model.remember && !hello.still) document.title = `${hello.model.name}: reluscope`;
  const silence = listenToKeys({ body, stage, store, history, region, walk, pick, keys, layers, travel });

  const camera = stage.begin(hello.still ? within(hello.home.window, stage.aspect()) : hello.home.window);
  shape = stage.aspect();
  if (store.get().window !== null) camera.set(viewOf(store.get().window));
  stage.scene.stretch(store.get().line);
  stage.draws(store.get().tool === "line");
  void looking.lookAtPlane();
  void sampleMarks.load().then(() => {
    mark();
    paint();
  });

  return () => {
    silence();
    lesson?.dispose();
    theme.onchange = () => {};
    closeSpace?.();
    stage.dispose();
  };
}

/** Return the entries of a state that comes from outside which there are. */
function known(initial) {
  return Object.fromEntries(Object.entries(initial ?? {}).filter(([key]) => key in BEGINNING));
}

const mix = (ends, axis, share) => ends[0][axis] * (1 - share) + ends[1][axis] * share;

function once(act) {
  let done = false;
  return () => {
    if (!done) void act();
    done = true;
  };
}
