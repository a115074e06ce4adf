const shared = ["TextDecoder", "URL", "globalThis"];
const node = [...shared, "Buffer", "TextEncoder", "console", "process", "setImmediate"];
const browser = [...shared, "btoa", "document", "fetch", "localStorage"];
const globals = (names) => ({
  languageOptions: { globals: Object.fromEntries(names.map((name) => [name, "readonly"])) },
});
const rules = ["eqeqeq", "no-const-assign", "no-dupe-keys", "no-redeclare", "no-shadow", "no-undef", "no-unreachable"];
const more = ["no-unused-vars", "no-useless-escape", "no-var", "prefer-const", "use-isnan"];

export default [
  { rules: Object.fromEntries([...rules, ...more].map((rule) => [rule, "error"])) },
  { files: ["src/**/*.mjs", "package/*.mjs"], ...globals(shared) },
  { files: ["*.mjs", "src/file.mjs", "test/**/*.mjs", "package/*/*.mjs"], ...globals(node) },
  { files: ["package/demo/page.mjs"], ...globals(browser) },
];
