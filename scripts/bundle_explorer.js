// Bundles src/reluscope/explorer/web into src/reluscope/explorer/bundle/explorer.js: one module, its style inside.
// With --check it writes nothing, and fails if the committed file is not what the sources give.
import { build, transform } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const EXPLORER = "src/reluscope/explorer";
const BUNDLE = `${EXPLORER}/bundle/explorer.js`;
const MOST = 100_000; // bytes: it is part of every snapshot

// A style sheet is a text to its module.
const styles = {
  name: "styles",
  setup(into) {
    into.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    });
  },
};

const built = await build({
  entryPoints: [`${EXPLORER}/web/explorer.js`],
  bundle: true,
  write: false,
  metafile: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  plugins: [styles],
  banner: { js: "// Made by make explorer." },
}).catch(() => process.exit(1)); // it has said what is wrong
const made = built.outputFiles[0].contents;

// A page of its own holds it between the tags of a script.
if (/<\/script|<!--/i.test(built.outputFiles[0].text)) fail("the bundle holds the end of a script: split that text");
if (process.argv.includes("--sizes")) {
  const parts = Object.entries(Object.values(built.metafile.outputs)[0].inputs);
  for (const [path, { bytesInOutput }] of parts.sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput)) {
    console.log(String(bytesInOutput).padStart(7), path);
  }
} else if (process.argv.includes("--check")) {
  const committed = await readFile(BUNDLE).catch(() => Buffer.alloc(0));
  if (!committed.equals(made)) fail(`${BUNDLE} is not what its sources give: run make explorer, and commit it`);
} else {
  await writeFile(BUNDLE, made);
}
console.log(`${BUNDLE}: ${made.length} bytes`);
if (made.length > MOST) fail(`expected at most ${MOST} bytes: leave something out (npm run sizes)`);

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
