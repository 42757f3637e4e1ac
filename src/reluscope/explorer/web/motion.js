// A view that was thrown coasts and comes to rest by itself.

const DECAY = 0.12; // seconds in which the speed falls to a third
const SLOWEST = 25; // pixels per second

/** @returns {{coast(velocity: number[], move: function): void, stop(): void}} */
export function createMotion() {
  let frame = 0;

  /** Move by a velocity in pixels per second that decays, and say when it has. */
  function coast(velocity, move, onend) {
    stop();
    let last = performance.now();
    const began = last;
    const step = (now) => {
      const speed = Math.exp(-(now - began) / 1000 / DECAY);
      const seconds = Math.min(0.1, (now - last) / 1000);
      last = now;
      if (Math.hypot(...velocity) * speed < SLOWEST) return onend();
      move(velocity.map((part) => part * speed * seconds));
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  }

  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
  }

  return { coast, stop };
}
