// Frames one after the other, as fast as they are done and no faster than can be seen.

const LEAST = 50; // milliseconds of a frame
const FORGETS = 0.2; // how much of the mean a new frame is

/**
 * Return what plays frames until it is paused.
 * @param {{frame: () => Promise<boolean>, onchange: (isPlaying: boolean) => void, now?: () => number,
 *   wait?: (milliseconds: number) => Promise<void>}} what a frame that fails ends it
 */
export function createPace({ frame, onchange, now = () => performance.now(), wait = (time) => new Promise((done) => setTimeout(done, time)) }) {
  let isPlaying = false;
  let run = 0;
  let mean = null;

  async function play() {
    if (isPlaying) return;
    isPlaying = true;
    mean = null;
    const own = ++run;
    onchange(true);
    let began = now();
    while (isPlaying && own === run) {
      if (!(await frame())) {
        if (own === run) pause();
        return;
      }
      await wait(Math.max(0, LEAST - (now() - began)));
      const took = now() - began;
      began += took;
      mean = mean === null ? took : (1 - FORGETS) * mean + FORGETS * took;
    }
  }
  function pause() {
    if (!isPlaying) return;
    isPlaying = false;
    onchange(false);
  }
  return {
    play,
    pause,
    isPlaying: () => isPlaying,
    /** Frames in a second, over the last ones; null before there were any. */
    rate: () => (mean === null ? null : 1000 / mean),
  };
}
