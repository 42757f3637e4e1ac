// What was measured over the steps of a lesson: rows of step, loss, loss at samples held out, accuracy, accuracy there.

const MOST = 2000;

/** Return rows with newer ones at their end, which take the place of those of the same steps. */
export function joined(rows, newer) {
  if (newer.length === 0) return rows;
  const kept = rows.filter(([step]) => step < newer[0][0]);
  const all = [...kept, ...newer];
  return all.length > MOST ? all.filter((_, at) => at % 2 === 0 || at === all.length - 1) : all;
}

/** Return the row of a step, or the last one before it. */
export function measuredAt(rows, step) {
  let found = rows[0];
  for (const row of rows) if (row[0] <= step) found = row;
  return found;
}

/** Return a column over the steps as points from 0 to 1, few enough to draw. */
export function curveOf(rows, column, most = 160) {
  const last = rows.at(-1)?.[0] || 1;
  const each = Math.max(1, Math.ceil(rows.length / most));
  return rows.filter((row, at) => row[column] !== null && (at % each === 0 || at === rows.length - 1)).map((row) => [row[0] / last, row[column]]);
}
