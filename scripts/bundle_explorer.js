// Bundles src/reluscope/explorer/web into src/reluscope/explorer/bundle/explorer.js: one module, its style inside.
// With --check it writes nothing, and fails if the committed file is not what the sources give.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const EXPLORER = "src/reluscope/explorer";
const BUNDLE = `${EXPLORER}/bundle/explorer.js`;
const MOST = 100_000; // bytes: it is part of every snapshot

const built = await build({
  entryPoints: [`${EXPLORER}/web/explorer.js`],
  bundle: true,
  write: false,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  loader: { ".css": "text", ".html": "text" },
  banner: { js: "// Made by `make explorer` from src/reluscope/explorer/web; not to be edited." },
});
const made = built.outputFiles[0].contents;
if (made.length > MOST) fail(`the bundle has ${made.length} bytes, expected at most ${MOST}: leave something out`);
if (process.argv.includes("--check")) {
  const committed = await readFile(BUNDLE).catch(() => Buffer.alloc(0));
  if (!committed.equals(made)) fail(`${BUNDLE} is not what its sources give: run make explorer, and commit it`);
} else {
  await writeFile(BUNDLE, made);
}
console.log(`${BUNDLE}: ${made.length} bytes`);

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
