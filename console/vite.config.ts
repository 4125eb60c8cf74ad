// Builds the console into the package of the engine. The same sources give the same bytes: names come from contents, and nothing
// that depends on the machine or the day is written.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const still = fileURLToPath(new URL("src/canvas/view/still.ts", import.meta.url)); // no view moves by itself

/** `runs_view` for `src/runs/view/page.tsx`. */
function pageOf(module: string | null): string {
  return /src[\\/](.+)[\\/]page\.tsx$/.exec(module ?? "")?.[1]?.replace(/[\\/]/g, "_") ?? "page";
}

export default defineConfig({
  base: "/console/",
  resolve: { alias: { "d3-transition": still, "d3-interpolate": still } },
  build: {
    outDir: "../engine/stepless/api/console",
    emptyOutDir: true,
    target: ["chrome111", "firefox128", "safari16.4"],
    assetsInlineLimit: 0, // the content security policy allows images of this origin; fewer ways to load one
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { // `use client` in a library means nothing here
      optimization: { inlineConst: true }, // a number of a table costs no name in each file that reads it
      // commands of CodeMirror name its parser, and none that is used here needs it; it does not say that it does nothing by itself
      treeshake: { moduleSideEffects: [{ test: /node_modules[\\/]@lezer[\\/]/, sideEffects: false }] },
      output: {
        chunkFileNames: ({ name, facadeModuleId }) => `assets/${name === "page" ? pageOf(facadeModuleId) : name}-[hash].js`,
        // what several parts share of these is one file: a dozen small ones compress worse, and each is a request
        codeSplitting: { groups: [
          { name: "shared", test: /src[\\/](?:ui|wire|editing(?![\\/]differences))[\\/]/, minShareCount: 2 },
          // what the editor needs at once, and other pages too
          { name: "draft", test: /src[\\/](?:source[\\/](?:made|source|part)|editing[\\/]differences|canvas[\\/](?:actions[\\/]places|notes[\\/]notes))\.tsx?$/, includeDependenciesRecursively: false },
          { name: "codemirror", test: /node_modules[\\/](?:@codemirror|@lezer|style-mod|w3c-keyname|crelt)[\\/]/ },
        ] },
      },
      onwarn(warning, tell) { if (warning.code !== "MODULE_LEVEL_DIRECTIVE") tell(warning); },
    },
  },
  worker: { format: "es" },
});
