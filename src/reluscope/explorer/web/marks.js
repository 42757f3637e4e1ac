// Shapes of marks over the plane, as path data about a point: those that pictures of the library give to classes.

/** Mark and filling of each class, over regions of any colour. */
const OF_GROUPS = [
  { shape: "circle", face: "light" },
  { shape: "up", face: "dark" },
  { shape: "square", face: "light" },
  { shape: "diamond", face: "dark" },
  { shape: "down", face: "light" },
  { shape: "plus", face: "dark" },
  { shape: "pentagon", face: "light" },
  { shape: "cross", face: "dark" },
];

/** Return shape and face ("light", "dark") of the marks of a class. */
export function markOf(group) {
  return OF_GROUPS[(((group ?? 0) % OF_GROUPS.length) + OF_GROUPS.length) % OF_GROUPS.length];
}

/**
 * Return SVG path data of a mark.
 * @param {string} shape
 * @param {number} x in pixels
 * @param {number} y in pixels, downwards
 * @param {number} radius
 */
export function markPath(shape, x, y, radius) {
  if (shape === "circle") {
    return `M${round(x - radius)} ${round(y)}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`;
  }
  const points = SHAPES[shape].map(([right, down]) => `${round(x + radius * right)} ${round(y + radius * down)}`);
  return `M${points.join("L")}z`;
}

const around = (number, first) =>
  Array.from({ length: number }, (_, index) => {
    const angle = first + (2 * Math.PI * index) / number;
    return [1.15 * Math.cos(angle), 1.15 * Math.sin(angle)];
  });
const PLUS = [[-1, -3], [1, -3], [1, -1], [3, -1], [3, 1], [1, 1], [1, 3], [-1, 3], [-1, 1], [-3, 1], [-3, -1], [-1, -1]].map(
  ([right, down]) => [0.4 * right, 0.4 * down],
);
const SHAPES = {
  up: around(3, -Math.PI / 2),
  down: around(3, Math.PI / 2),
  square: around(4, Math.PI / 4),
  diamond: around(4, 0),
  pentagon: around(5, -Math.PI / 2),
  plus: PLUS,
  cross: PLUS.map(([right, down]) => [(right - down) * Math.SQRT1_2, (right + down) * Math.SQRT1_2]),
};

function round(value) {
  return Math.round(10 * value) / 10;
}
