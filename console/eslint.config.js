// Types are checked by tsc; these rules are for what types do not see. A file imports from its own floor and from those below it, as
// the packages of the engine do. `src/editing` decides and does nothing else: it reads no clock, no storage and no network.
import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

const OUTSIDE = ["fetch", "indexedDB", "localStorage", "sessionStorage", "navigator", "window", "document", "setTimeout",
  "setInterval", "crypto", "WebSocket", "performance", "process", "console"];

// From the lowest to the highest; the folders of one floor may import from each other. docs/console.md says what each is for, and
// tests/house/test_console.py finds a folder that has no floor, and circles of files.
const FLOORS = [
  ["editing"],
  ["wire"],
  ["ui"],
  ["source"],
  ["canvas", "inspector", "panes", "testruns", "messages", "runstate"],
  ["runs", "inbox", "workflows", "versions", "pages"],
];

/** Forbids imports from the floors above one. `patterns` are forbidden there, too. */
function standing(floor, patterns = []) {
  const above = FLOORS.slice(floor + 1).flat().map((folder) => `${folder}/`);
  const regex = `^(?:\\.\\.?/)+(?:${[...above, "main\\.tsx$"].join("|")})`;
  return { "no-restricted-imports": ["error", { patterns: [{ regex, message: "This is on a higher floor." }, ...patterns] }] };
}

export default defineConfig(
  { ignores: ["build/", "node_modules/"] },
  js.configs.recommended,
  {
    files: ["src/**/*.ts", "src/**/*.tsx", "tests/**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: "error",
      "no-console": "error",
      complexity: ["error", 16],
      "max-lines": ["error", { max: 300 }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-non-null-assertion": "error",
    },
  },
  ...FLOORS.map((folders, floor) => ({ files: folders.map((folder) => `src/${folder}/**/*.{ts,tsx}`), rules: standing(floor) })),
  {
    files: ["src/editing/**/*.ts"],
    ignores: ["src/editing/ports/**"],
    rules: {
      "no-restricted-globals": ["error", ...OUTSIDE],
      "no-restricted-properties": ["error",
        { object: "Date", property: "now", message: "The clock is a port." },
        { object: "Math", property: "random", message: "Randomness is a port." }],
      ...standing(0, [{ group: ["react*", "node:*"], message: "Editing knows no browser and no machine." }]),
    },
  },
  {
    files: ["tests/**/*.ts"],
    rules: { "@typescript-eslint/no-floating-promises": "off", "max-lines": ["error", { max: 400 }] },
  },
);
