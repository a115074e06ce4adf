import js from "@eslint/js";

const shared = ["TextDecoder", "URL", "globalThis"];
const node = [...shared, "Buffer", "TextEncoder", "console", "process", "setImmediate"];
const browser = [...shared, "atob", "btoa", "document", "fetch", "localStorage"];
const globals = (names) => ({
  languageOptions: { globals: Object.fromEntries(names.map((name) => [name, "readonly"])) },
});

export default [
  js.configs.recommended,
  { rules: { "prefer-const": "error", eqeqeq: "error", "no-shadow": "error", "no-var": "error" } },
  { files: ["src/**/*.mjs"], ...globals(shared) },
  { files: ["*.mjs", "src/file.mjs", "test/**/*.mjs", "package/*/*.mjs"], ...globals(node) },
  { files: ["package/demo/page.mjs"], ...globals(browser) },
];
