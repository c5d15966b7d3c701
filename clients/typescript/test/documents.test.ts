/** What the package says about itself: the quickstart runs, the example works, and the package holds what it should. */

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { PYTHON, Server } from "./server.js";

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const server = new Server();
let folder: string;

before(async () => {
  await server.start();
  folder = await mkdtemp(join(tmpdir(), "condense-"));
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

test("the quickstart of the README runs", async () => {
  const readme = await readFile(join(PACKAGE, "README.md"), "utf8");
  const program = /```js\n(.*?)```/s.exec(readme)?.[1] ?? assert.fail("no quickstart");
  const index = new URL("../src/index.js", import.meta.url).href;
  const file = join(folder, "quickstart.mjs");
  await writeFile(
    file,
    program.replace('"@condense-grpc/client"', JSON.stringify(index)).replace("127.0.0.1:50051", server.address),
  );
  const { stdout } = await run(process.execPath, [file]);
  assert.match(stdout, /^completed$/m);
  assert.match(stdout, /t1/);
  assert.ok(readme.split("\n").length <= 61);
});

test("the example works with a provider that refuses invalid histories", async () => {
  const script = [
    { calls: [{ name: "bash", arguments: { command: "seq 1 2000" } }] },
    { calls: [{ name: "context_tree_query", arguments: { toolCallIds: ["t1"] } }] },
    { text: "It ends with: ", quote_chars: 5000 },
  ];
  await writeFile(join(folder, "script.json"), JSON.stringify(script));
  const provider = spawn(PYTHON, ["-m", "condense_grpc.testing.strict_provider", join(folder, "script.json")]);
  try {
    const [line] = (await once(provider.stdout, "data")) as [Buffer];
    const { base_urls } = JSON.parse(String(line)) as { base_urls: { openai: string } };
    const env = { ...process.env, OPENAI_BASE_URL: base_urls.openai };
    const example = fileURLToPath(new URL("../examples/agent.js", import.meta.url));
    const { stdout } = await run(process.execPath, [example, server.address, "Count."], { env });
    assert.match(stdout, /It ends with/);
    assert.match(stdout, /condensed \d+ characters/);
  } finally {
    provider.kill();
  }
});

test("the package holds the built client and nothing else", async () => {
  const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: PACKAGE });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const names = files.map((file) => file.path).filter((name) => !name.startsWith("dist/"));
  assert.deepEqual(names.sort(), ["LICENSE", "README.md", "package.json"]);
  const manifest = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8")) as Record<string, unknown>;
  for (const member of ["name", "version", "description", "license", "exports", "types", "engines", "files"]) {
    assert.ok(manifest[member], member);
  }
});
