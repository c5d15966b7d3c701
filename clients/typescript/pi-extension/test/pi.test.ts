/** A real Pi session from end to end, against a model that refuses what a provider would refuse. */

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { Server } from "../../test/server.js";
import { Pi, Place, Provider, type ChatMessage, type Turn } from "./pi-process.js";

const LINES = Array.from({ length: 400 }, (_, index) => `${index + 1}: the quick brown fox, run ${index * 7919}`);
const FILE = LINES.join("\n");

const text = (message: ChatMessage | undefined): string =>
  typeof message?.content === "string" ? message.content : (message?.content ?? []).map((part) => part.text).join("");
const results = (messages: readonly ChatMessage[]) => messages.filter((message) => message.role === "tool").map(text);

/** Pi and a model over a service, all ended at the end. */
async function scene(
  script: readonly Turn[],
  play: (scene: {
    place: Place;
    server: Server;
    provider: Provider;
    start: (args?: readonly string[], target?: string) => Pi;
  }) => Promise<void>,
): Promise<void> {
  const place = await Place.make();
  const server = new Server(`sqlite:///${join(place.root, "condense.db")}`);
  const provider = await Provider.start(place.root, script);
  const started: Pi[] = [];
  try {
    await server.start();
    await place.configure(provider);
    await writeFile(join(place.work, "fox.txt"), FILE);
    const start = (args: readonly string[] = [], target = server.address): Pi => {
      const pi = new Pi(place, target, args);
      started.push(pi);
      return pi;
    };
    await play({ place, server, provider, start });
    assert.deepEqual((await provider.requests()).filter((request) => request.refused), []);
  } finally {
    await Promise.all(started.map((pi) => pi.stop("SIGKILL")));
    provider.stop();
    await server.stop("SIGKILL");
    await place.remove();
  }
}

const WORK: Turn[] = [
  { text: "I read.", calls: [{ name: "read", arguments: { path: "fox.txt" } }] },
  {
    calls: [
      { name: "bash", arguments: { command: "seq 1 900" } },
      { name: "bash", arguments: { command: "seq 1 300; echo the build failed >&2; exit 3" } },
    ],
  },
  { failure: { status: 503, message: "overloaded" } },
  { text: "The work is done." },
];

test("a session is condensed, asks for an original, and survives a restart of the service", async () => {
  const script: Turn[] = [
    ...WORK,
    { text: "Yes." },
    { calls: [{ name: "context_tree_query", arguments: { toolCallIds: ["t1"] } }] },
    { text: "It says: ", quote_chars: 4000 },
    { text: "Good bye." },
  ];
  await scene(script, async ({ server, provider, start }) => {
    const pi = start();
    await pi.prompt("Do the work.");
    await pi.until((event) => /condensed 3 results/.test(String(event["statusText"])));
    assert.ok(pi.statuses.some((status) => /^condensing \d\/\d/.test(status)));

    await pi.prompt("Are you sure?");
    const condensed = (await provider.requests()).at(-1)?.body.messages ?? [];
    assert.equal(results(condensed).length, 3);
    results(condensed).forEach((result, index) => assert.match(result, new RegExp(`ref \`t${index + 1}\``)));
    assert.ok(condensed.some((message) => message.role === "user" && /`t1` read fox.txt/.test(text(message))));
    assert.ok(!JSON.stringify(condensed).includes("run 3167600"));
    assert.ok(pi.statuses.some((status) => /prune: ON/.test(status)));

    await server.stop("SIGKILL");
    await server.start();
    await pi.prompt("What does the file say?");
    const requests = await provider.requests();
    const asked = requests.at(-1)?.body.messages ?? [];
    const answer = results(asked).at(-1) ?? "";
    assert.ok(answer.includes(FILE), "the original is there word for word");
    assert.match(results(asked)[0] ?? "", /ref `t1`/);
    const last = pi.heard.findLast((event) => event["type"] === "agent_end");
    assert.ok(JSON.stringify(last).includes("the quick brown fox"));

    for (const request of requests) {
      assert.ok(JSON.stringify(request.body.tools).includes("context_tree_query"));
    }
    assert.equal(await pi.stop(), 0);
    assert.deepEqual(pi.errors, []);
  });
});
