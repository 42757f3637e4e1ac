// Which steps of a lesson are kept: the multiples of a stride, and the newest.

/** Return the places of a slider through the steps that are kept. */
export function keptPlaces({ step, stride }) {
  const whole = Math.floor(step / stride);
  const count = whole + 1 + (step % stride > 0 ? 1 : 0);
  return {
    count,
    at: (place) => Math.min(place * stride, step),
    /** The place of a step, or of the one before it that is kept. */
    of: (epoch) => (epoch >= step ? count - 1 : Math.floor(epoch / stride)),
  };
}
