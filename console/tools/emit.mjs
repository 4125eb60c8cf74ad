// Writes src and tests as JavaScript into build, for Node.js to run. Types are left out, not checked: `npm run lint` and `npm test`
// check them.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { transformWithOxc } from "vite";

const OUT = "build";
const OPTIONS = {
  sourcemap: true,
  target: "es2022",
  jsx: { runtime: "automatic" },
  typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: "rewrite" },
};

rmSync(OUT, { recursive: true, force: true });
const names = ["src", "tests"].flatMap((root) => readdirSync(root, { recursive: true }).map((name) => join(root, name)));
for (const name of names.filter((one) => /(?<!\.d)\.tsx?$/.test(one))) {
  const { code, map } = await transformWithOxc(readFileSync(name, "utf8"), name, OPTIONS);
  const written = join(OUT, name.replace(/\.tsx?$/, ".js"));
  mkdirSync(dirname(written), { recursive: true });
  writeFileSync(written, `${code}\n//# sourceMappingURL=${basename(written)}.map\n`);
  writeFileSync(`${written}.map`, JSON.stringify({ ...map, sources: [relative(dirname(written), name)] }));
}
