/** The package is what Pi installs: one file that needs nothing but Pi. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { PACKAGE } from "./pi-process.js";

test("the package holds the bundle, and its metadata say what Pi wants to know", async () => {
  const pack = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = await promisify(execFile)("npm", pack, { cwd: PACKAGE });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  assert.deepEqual(files.map((file) => file.path).sort(), ["LICENSE", "README.md", "dist/index.js", "package.json"]);
  const manifest = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8")) as {
    keywords: string[];
    pi: { extensions: string[] };
    dependencies?: object;
  };
  assert.ok(manifest.keywords.includes("pi-package"));
  assert.deepEqual(manifest.pi.extensions, ["./dist/index.js"]);
  assert.equal(manifest.dependencies, undefined);
});

test("the bundle imports nothing but Pi and what Node brings", async () => {
  const bundle = await readFile(join(PACKAGE, "dist/index.js"), "utf8");
  const imports = [...bundle.matchAll(/^import .*?from "([^"]+)";$/gm)].map((match) => match[1] ?? "");
  const foreign = imports.filter((name) => !/^(node:|http|https|zlib|crypto|@earendil-works\/pi-)/.test(name));
  assert.ok(imports.includes("@earendil-works/pi-coding-agent"));
  assert.deepEqual(foreign, []);
});
