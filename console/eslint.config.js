// Types are checked by tsc; these rules are for what types do not see. `src/editing` decides and does nothing else: it reads
// no clock, no storage and no network, and knows no page.
import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

const OUTSIDE = ["fetch", "indexedDB", "localStorage", "sessionStorage", "navigator", "window", "document", "setTimeout",
  "setInterval", "crypto", "WebSocket", "performance", "process", "console"];

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
  {
    files: ["src/editing/**/*.ts"],
    ignores: ["src/editing/ports/**"],
    rules: {
      "no-restricted-globals": ["error", ...OUTSIDE],
      "no-restricted-properties": ["error",
        { object: "Date", property: "now", message: "The clock is a port." },
        { object: "Math", property: "random", message: "Randomness is a port." }],
      "no-restricted-imports": ["error", { patterns: ["react*", "node:*", "../!(editing)/**"] }],
    },
  },
  {
    files: ["tests/**/*.ts"],
    rules: { "@typescript-eslint/no-floating-promises": "off", "max-lines": ["error", { max: 400 }] },
  },
);
