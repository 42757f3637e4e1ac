// Bundles src/reluscope/explorer/web into src/reluscope/explorer/bundle: explorer.js, one module, its style inside; and
// scripts that come before it: live.js where there is somebody to ask, space.js where there is something in three
// dimensions to see, learn.js where a network is trained.
// With --check it writes nothing, and fails if the committed files are not what the sources give.
import { build, transform } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const EXPLORER = "src/reluscope/explorer";
const BANNER = { js: "// Made by make explorer." };
// Bytes: the first is part of every snapshot, the last of those of three inputs.
const BUNDLES = [
  { name: "explorer", entry: "web/explorer.js", format: "esm", most: 100_000 },
  { name: "live", entry: "web/live.js", format: "iife", most: 20_000 },
  { name: "space", entry: "web/space/space.js", format: "iife", most: 45_000 },
  { name: "learn", entry: "web/learning/learn.js", format: "iife", most: 25_000 },
];

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

// A shader, which is a text that says its version or begins as another one, has no use for indentation and for room
// around its signs.
const shaders = {
  name: "shaders",
  setup(into) {
    into.onLoad({ filter: /\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const small = (shader) => shader.replace(/\s*\n\s*/g, "\n").replace(/ *([=+*/<>,;?:{}()|&-]) */g, "$1").replace(/([;{}])\n/g, "$1");
      return { contents: text.replace(/`(?:#version|\$\{PULLED\})[^`]*`/g, small), loader: "js" };
    });
  },
};

for (const one of BUNDLES) await bundle(one);

async function bundle({ name, entry, format, most }) {
  const path = `${EXPLORER}/bundle/${name}.js`;
  const built = await build({
    entryPoints: [`${EXPLORER}/${entry}`],
    bundle: true,
    write: false,
    metafile: true,
    format,
    target: "es2022",
    minify: true,
    charset: "utf8",
    legalComments: "none",
    plugins: [styles, shaders],
    banner: BANNER,
  }).catch(() => process.exit(1)); // it has said what is wrong
  const made = built.outputFiles[0].contents;

  // A page of its own holds it between the tags of a script.
  if (/<\/script|<!--/i.test(built.outputFiles[0].text)) fail("the bundle holds the end of a script: split that text");
  if (process.argv.includes("--sizes")) {
    const parts = Object.entries(Object.values(built.metafile.outputs)[0].inputs);
    for (const [part, { bytesInOutput }] of parts.sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput)) {
      console.log(String(bytesInOutput).padStart(7), part);
    }
  } else if (process.argv.includes("--check")) {
    const committed = await readFile(path).catch(() => Buffer.alloc(0));
    if (!committed.equals(made)) fail(`${path} is not what its sources give: run make explorer, and commit it`);
  } else {
    await writeFile(path, made);
  }
  console.log(`${path}: ${made.length} bytes`);
  if (made.length > most) fail(`expected at most ${most} bytes: leave something out (npm run sizes)`);
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
