/** A real Pi session from end to end, against a model that refuses what a provider would refuse. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { CondenseClient } from "@condense-grpc/client";
import { SessionService } from "@condense-grpc/client/contract";

import { Server } from "../../test/server.js";
import { Pi, PI, Place, Provider, type ChatMessage, type Turn } from "./pi-process.js";

/** Runs Pi to its end, without anything on its standard input, which it would wait for. */
async function print(place: Place, target: string, message: string): Promise<{ stdout: string; stderr: string }> {
  const args = [PI, "--provider", "strict", "--model", "scripted", "--session-dir", place.sessions];
  const env = { ...process.env, ...place.environment, CONDENSE_TARGET: target };
  const running = promisify(execFile)(process.execPath, [...args, "--print", message], {
    cwd: place.work,
    env,
    timeout: 60_000,
  });
  running.child.stdin?.end();
  return running;
}

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
    assert.deepEqual(
      (await provider.requests()).filter((request) => request.refused),
      [],
    );
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

test("reloads, other branches and a new Pi process keep what was decided", async () => {
  const script: Turn[] = [
    ...WORK,
    { text: "One." },
    { text: "Two." },
    { text: "Three." },
    { text: "Four." },
    { text: "Five." },
  ];
  await scene(script, async ({ provider, start }) => {
    const shown = async () => (await provider.requests()).at(-1)?.body.messages ?? [];
    const isCondensed = (messages: readonly ChatMessage[]) =>
      results(messages).every((result, index) => result.includes(`ref \`t${index + 1}\``)) &&
      messages.filter((message) => /Summarized tool refs/.test(text(message))).length === 2;
    const pi = start();
    await pi.prompt("Do the work.");
    await pi.until((event) => /condensed 3 results/.test(String(event["statusText"])));
    await pi.command({ type: "prompt", message: "/test-notice Something has happened." });
    await pi.prompt("First question.");
    assert.ok(isCondensed(await shown()));

    await pi.command({ type: "prompt", message: "/test-reload" });
    await pi.prompt("Second question.");
    assert.ok(isCondensed(await shown()), "after a reload");

    const from = pi.heard.length;
    await pi.command({ type: "prompt", message: "/test-goto One." });
    await pi.until((event) => event["message"] === "test-goto: done", from);
    await pi.prompt("Another second question.");
    const branch = await shown();
    assert.ok(isCondensed(branch), "on another branch");
    assert.ok(!JSON.stringify(branch).includes("Two."));
    const early = pi.heard.length;
    await pi.command({ type: "prompt", message: "/test-goto The work is done." });
    await pi.until((event) => event["message"] === "test-goto: done", early);
    await pi.prompt("Back at the start.");
    assert.equal(results(await shown()).length, 3);
    assert.equal(await pi.stop(), 0);

    const resumed = start(["--continue"]);
    await resumed.prompt("Third question.");
    assert.ok(
      results(await shown()).every((result) => /ref `t\d`/.test(result)),
      "in a new process",
    );
    assert.equal(await resumed.stop(), 0);
  });
});

test("a fork begins as a copy, and a session that was pruned within Pi is taken over", async () => {
  await scene([...WORK, { text: "One." }, { text: "Two." }, { text: "Three." }], async (the) => {
    const { place, server, provider, start } = the;
    const shown = async () => (await provider.requests()).at(-1)?.body.messages ?? [];
    const pi = start();
    await pi.prompt("Do the work.");
    await pi.until((event) => /condensed 3 results/.test(String(event["statusText"])));
    await pi.prompt("First question.");
    const condensed = await shown();
    const { data } = (await pi.command({ type: "get_fork_messages" })) as {
      data: { messages: { entryId: string; text: string }[] };
    };
    const entryId = data.messages.find((message) => message.text === "First question.")?.entryId;
    const state = (await pi.command({ type: "get_state" })) as { data: { sessionId: string } };
    await pi.command({ type: "fork", entryId });
    await pi.prompt("First question.");
    assert.deepEqual(await shown(), condensed, "the first request of a fork");
    assert.equal(await pi.stop(), 0);

    const client = new CondenseClient(server.address);
    const file = join(place.sessions, "exported.jsonl");
    const pieces: Uint8Array[] = [];
    const { sessionId } = state.data;
    for await (const { chunk } of client.service(SessionService).exportSession({ sessionId })) {
      pieces.push(chunk);
    }
    await writeFile(file, Buffer.concat(pieces));
    assert.ok(Buffer.concat(pieces).includes("context-prune-summary"));
    await client.session(sessionId, { format: "pi" }).delete();
    client.close();
    const taken = start(["--session", file]);
    await taken.prompt("Second question.");
    // Behind the system prompt, which names the folder.
    const before = condensed.slice(1);
    const after = (await shown()).slice(1);
    assert.deepEqual(after.slice(0, before.length), before, "the first request of a session taken over");
    assert.equal(await taken.stop(), 0);
  });
});

test("steering, an aborted turn and a compaction of Pi leave histories that a provider takes", async () => {
  const script: Turn[] = [
    {
      calls: [
        { name: "bash", arguments: { command: "seq 1 500; sleep 1" } },
        { name: "bash", arguments: { command: "seq 501 900" } },
      ],
    },
    { text: "Steered." },
    { calls: [{ name: "bash", arguments: { command: "echo started; sleep 30" } }] },
    { text: "After the abort." },
    { text: "A summary by Pi." },
    { text: "After the compaction." },
    { calls: [{ name: "bash", arguments: { command: "seq 1 2000" } }] },
    { text: "Worked again." },
    { text: "Good bye." },
  ];
  await scene(script, async ({ provider, start }) => {
    const shown = async () => (await provider.requests()).at(-1)?.body.messages ?? [];
    const pi = start();
    const running = pi.prompt("Count.");
    await pi.until((event) => event["type"] === "tool_execution_start");
    await pi.command({ type: "steer", message: "Be quick." });
    await running;
    assert.match(JSON.stringify(await shown()), /Be quick/);
    await pi.until((event) => /condensed 2 results/.test(String(event["statusText"])));

    const from = pi.heard.length;
    const aborted = pi.prompt("Sleep.");
    await pi.until((event) => event["type"] === "tool_execution_start", from);
    await pi.command({ type: "abort" });
    await aborted;
    await pi.prompt("Are you there?");
    assert.match(results(await shown())[0] ?? "", /ref `t1`/);

    await pi.command({ type: "compact" });
    await pi.prompt("Go on.");
    assert.match(JSON.stringify(await shown()), /A summary by Pi/);
    await pi.prompt("Count again.");
    await pi.until((event) => /condensed 1 results/.test(String(event["statusText"])), from);
    await pi.prompt("Bye.");
    assert.match(results(await shown()).at(-1) ?? "", /ref `t\d+`/);
    assert.equal(await pi.stop(), 0);
  });
});

test("a budget that is reached condenses in the middle of the work, as the configuration says", async () => {
  const script: Turn[] = [
    { calls: [{ name: "bash", arguments: { command: "seq 1 2000" } }] },
    { calls: [{ name: "bash", arguments: { command: "seq 2001 4000" } }] },
    { calls: [{ name: "bash", arguments: { command: "echo almost" } }] },
    { calls: [{ name: "bash", arguments: { command: "echo there" } }] },
    { text: "There." },
  ];
  await scene(script, async ({ place, provider, start }) => {
    const config = { autoBudgetThreshold: 0.01, pruneOn: "PRUNE_ON_ON_DEMAND" };
    place.environment["CONDENSE_CONFIG"] = JSON.stringify(config);
    const pi = start();
    await pi.prompt("Count.");
    const sent = (await provider.requests()).at(-1)?.body.messages ?? [];
    assert.match(results(sent)[0] ?? "", /ref `t1`/);
    // The service has begun the flush by itself, and may be done before it can be followed.
    await pi.until((event) => /^condensed \d (results|batches)/.test(String(event["statusText"])));
    assert.equal(await pi.stop(), 0);
    place.environment["CONDENSE_CONFIG"] = '{"pruneWhen": 1}';
    const wrong = start();
    await wrong.prompt("Go on.");
    assert.equal(wrong.notices.filter((notice) => /CONDENSE_CONFIG/.test(notice)).length, 1);
    assert.equal(await wrong.stop(), 0);
  });
});

test("the command tells how it goes, and has things done at once", async () => {
  await scene([...WORK, { text: "Fine." }], async ({ start }) => {
    const pi = start();
    const say = async (message: string): Promise<string> => {
      const from = pi.heard.length;
      await pi.command({ type: "prompt", message });
      const event = await pi.until((one) => one["type"] === "extension_ui_request" && one["method"] === "notify", from);
      return String(event["message"]);
    };
    assert.match(await say("/condense tree"), /does not exist|Nothing is archived/);
    await pi.prompt("Do the work.");
    await pi.until((event) => /condensed 3 results/.test(String(event["statusText"])));
    assert.match(await say("/condense"), /last flush: summarized, 2 batches/);
    const tree = await say("/condense tree");
    assert.match(tree, /summary s1\n {2}t1 {2}read .*fox.txt/);
    assert.match(tree, /t3 {2}bash .* failed/);
    assert.match(await say("/condense tree t3"), /the build failed/);
    assert.match(await say("/condense now"), /empty: 0 results/);
    assert.match(await say("/condense compact"), /compressed: .* 1 chains compressed/);
    assert.match(await say("/condense what"), /\/condense status: /);
    const commands = await pi.command({ type: "get_commands" });
    assert.ok(JSON.stringify(commands).includes("condense_grpc: status, now, compact, tree"));
    assert.equal(await pi.stop("SIGTERM"), 143);
  });
});

test("without the service Pi goes on untouched, and says so once", async () => {
  const script: Turn[] = [
    ...WORK,
    { calls: [{ name: "context_tree_query", arguments: { toolCallIds: ["t1"] } }] },
    { text: "Then not." },
    { text: "Fine." },
  ];
  await scene(script, async ({ server, provider, start }) => {
    await server.stop();
    const pi = start();
    await pi.prompt("Do the work.");
    await pi.prompt("Look it up.");
    const sent = (await provider.requests()).at(-1)?.body.messages ?? [];
    assert.ok(results(sent)[0]?.startsWith(FILE.slice(0, 1000)));
    assert.equal(results(sent).length, 4);
    assert.match(results(sent)[3] ?? "", /The archive cannot be read now/);
    assert.deepEqual(pi.notices.filter((notice) => /does not answer/.test(notice)).length, 1);
    await server.start();
    await pi.prompt("And now?");
    await pi.until((event) => /is back/.test(String(event["message"])));
    await pi.until((event) => /condensed \d results/.test(String(event["statusText"])));
    assert.equal(await pi.stop(), 0);
  });
});

test("a service that dies in a session leaves the model what it was shown", async () => {
  await scene([...WORK, { text: "One." }, { text: "Two." }], async ({ server, provider, start }) => {
    const pi = start();
    await pi.prompt("Do the work.");
    await pi.until((event) => /condensed 3 results/.test(String(event["statusText"])));
    await pi.prompt("First question.");
    const before = (await provider.requests()).at(-1)?.body.messages ?? [];
    await server.stop("SIGKILL");
    await pi.prompt("Second question.");
    const after = (await provider.requests()).at(-1)?.body.messages ?? [];
    assert.deepEqual(after.slice(0, before.length), before);
    assert.equal(after.length, before.length + 2);
    assert.equal(pi.notices.filter((notice) => /does not answer/.test(notice)).length, 1);
    assert.equal(await pi.stop(), 0);
  });
});

test("a service that hangs is missed once, and not waited for in every turn", async () => {
  await scene([...WORK, { text: "One." }], async ({ server, provider, start }) => {
    server.signal("SIGSTOP");
    const pi = start();
    await pi.prompt("Do the work.");
    await pi.prompt("First question.");
    const sent = (await provider.requests()).at(-1)?.body.messages ?? [];
    assert.ok(results(sent)[0]?.startsWith(FILE.slice(0, 1000)));
    assert.equal(pi.notices.filter((notice) => /does not answer/.test(notice)).length, 1);
    server.signal("SIGCONT");
    assert.equal(await pi.stop(), 0);
  });
});

test("print mode ends by itself with everything condensed, and warns on stderr", async () => {
  await scene([...WORK, ...WORK], async ({ place, server, start }) => {
    const once = await print(place, server.address, "Do the work.");
    assert.equal(once.stdout.trim(), "The work is done.");
    assert.equal(once.stderr, "");
    const pi = start(["--continue"]);
    const from = pi.heard.length;
    await pi.command({ type: "prompt", message: "/condense status" });
    const told = await pi.until((one) => one["method"] === "notify", from);
    assert.match(String(told["message"]), /pending: 0 batches[^]*last flush: summarized/);
    await pi.stop();
    await server.stop();
    const again = await print(place, server.address, "Do the work.");
    assert.equal(again.stdout.trim(), "The work is done.");
    assert.equal(again.stderr.match(/does not answer/g)?.length, 1);
  });
});
