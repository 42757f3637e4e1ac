// The stage: the canvas with its scene and its camera, and the element that the keyboard and the pointer act on.

import { createCamera } from "./camera.js";
import { make } from "./elements.js";
import { createScene } from "./scene.js";

const SAID = "The plane: arrows move, + and − zoom, Enter opens the region in the middle.";

/**
 * Make the stage.
 * @param {object} listeners onview(view), onrest(view), onhover(place or null), onpick(place), online(ends, isDone),
 *   onlost({lost}); places are {x, y, event}
 * @param {{wheels: () => boolean}} options whether the wheel zooms at this moment
 * @throws {NoWebGL}
 */
export function createStage({ onview, onrest, onhover, onpick, online, onlost }, { wheels }) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const surface = make("div.surface", { tabindex: "0", role: "application", "aria-label": SAID }, canvas);
  const element = make("div.stage", surface);
  const reduced = matchMedia("(prefers-reduced-motion: reduce)");
  const scene = createScene(canvas);
  let camera = null;
  let isDrawing = false;
  scene.onlost(onlost);

  return {
    element,
    surface,
    scene,
    /** Width by height. */
    aspect: () => Math.max(1, surface.clientWidth) / Math.max(1, surface.clientHeight),
    /** Begin to look. @param {{center: number[], reach: number[]}} home */
    begin(home) {
      camera = createCamera({
        element: surface,
        home,
        reducedMotion: () => reduced.matches,
        wheels,
        onchange: (view) => {
          scene.draw(view);
          onview(view);
        },
        onrest,
        onclick: onpick,
        onhover,
        onstretch: ({ ends, isDone }) => online(ends, isDone),
        stretching: () => isDrawing,
      });
      scene.draw(camera.view());
      return camera;
    },
    camera: () => camera,
    /** Whether a drag draws a line and moves nothing. */
    draws(now) {
      isDrawing = now;
      surface.classList.toggle("drawing", now);
    },
    dispose() {
      camera?.dispose();
      scene.dispose();
    },
  };
}
