/** Sessions on a real server. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { SessionService } from "../src/contract.js";
import * as condense from "../src/index.js";
import { CondenseClient, FlushOutcome, PruneOn, recoveryTool } from "../src/index.js";
import { output, Server, work, type ChatMessage } from "./server.js";

const server = new Server();
let client: CondenseClient;

before(async () => {
  await server.start();
  client = new CondenseClient(server.address);
});
after(async () => {
  client.close();
  await server.stop();
});

const open = (name: string, by = client) =>
  by.session<ChatMessage>(name, { format: "openai-chat", config: { pruneOn: PruneOn.ON_DEMAND, minBatchChars: 0 } });

async function verbatim(session: condense.Session<ChatMessage>, ref: string): Promise<string> {
  let text = "";
  for await (const piece of session.read(ref)) {
    text += piece;
  }
  return text;
}

test("a session is condensed, and gives its originals back", async () => {
  const session = open("turns");
  const messages = work("one", [output("a", 3000), output("b", 3000)]);
  const raw = await session.prune(messages);
  assert.equal(raw.pruned, false);
  assert.ok(raw.messages.every((message, index) => message === messages[index]));

  const seen: (string | undefined)[] = [];
  const flush = session.flush(messages);
  for await (const { event } of flush) {
    seen.push(event.case);
  }
  assert.equal(seen[0], "started");
  assert.equal(seen.at(-1), "completed");
  assert.equal(flush.completed?.outcome, FlushOutcome.SUMMARIZED);

  messages.push({ role: "user", content: "Thanks." });
  const view = await session.prune(messages, { usage: { tokens: 500, contextWindow: 10_000 } });
  assert.equal(view.messages[0], messages[0]);
  assert.match(view.messages[2]?.content ?? "", /ref `t1`/);
  assert.equal(messages[2]?.content, output("a", 3000));
  assert.ok(view.reclaim && view.reclaim.afterChars < view.reclaim.beforeChars);
  assert.equal((await session.prune(messages)).unchanged, true);
  assert.deepEqual((await session.prune(messages)).messages, view.messages);

  const answer = await session.query(["t1", "t2", "t99"]);
  assert.deepEqual(
    answer.records.map((record) => record.ref),
    ["t1", "t2"],
  );
  assert.equal(answer.results[0]?.blocks[0]?.text, output("a", 3000));
  assert.equal(answer.results[2]?.found, false);
  assert.match(
    await session.answerToolCall({ toolCallIds: ["t1"], slices: [{ ref: "t1", lines: [2, 2] }] }),
    /line 2:/,
  );
  assert.match(await session.answerToolCall("{"), /not valid JSON/);
  assert.equal(await verbatim(session, "t2"), output("b", 3000));
  await assert.rejects(verbatim(session, "t99"), condense.ResultNotFoundError);

  const diagnostics = await session.diagnostics();
  assert.equal(diagnostics.lastFlushes[0]?.outcome, FlushOutcome.SUMMARIZED);
  assert.ok(diagnostics.lastFlushes[0].eventTime instanceof Date);
  const refs: string[] = [];
  for await (const group of session.toolCalls()) {
    refs.push(...group.records.map((record) => record.ref));
  }
  assert.deepEqual(refs, ["t1", "t2"]);
  assert.equal(await session.delete(), true);
  assert.equal(await session.delete(), false);
});

test("calls that the facade does not have go over the same connection", async () => {
  await open("raw").prune(work("one", [output("a", 3000)]));
  const { session } = await client.service(SessionService).forkSession({ sessionId: "raw", newSessionId: "raw copy" });
  assert.equal(session?.transcriptLength, 4n);
});

test("the tool is the one of the server", async () => {
  const { recoveryTool: told } = await client.capabilities();
  const { name, description, input_schema } = recoveryTool("anthropic");
  assert.deepEqual(
    { name, description, parametersJson: JSON.stringify(input_schema) },
    {
      name: told?.name,
      description: told?.description,
      parametersJson: JSON.stringify(JSON.parse(told?.parametersJson ?? "")),
    },
  );
});

test("a list that was cut or changed is a rewind, and the branch can be come back to", async () => {
  const session = open("rewinds");
  const branch = [...work("one", [output("a", 3000)]), ...work("two", [output("b", 3000)])];
  await session.flush(branch).wait();
  const condensed = (await session.prune(branch)).messages;
  assert.notDeepEqual(condensed, branch);
  assert.deepEqual((await session.prune(branch.slice(0, 3))).messages.slice(0, 3), branch.slice(0, 3));
  const other = [...branch.slice(0, 4), { role: "user" as const, content: "Something else." }];
  assert.equal((await session.prune(other)).transcriptLength, 5);
  assert.deepEqual((await session.prune(branch)).messages, condensed);
  const mixed = [...branch].reverse();
  assert.equal((await session.prune(mixed)).transcriptLength, branch.length);
});

test("another writer, and a server that has lost the session, are healed", async () => {
  const [here, there] = [open("shared"), open("shared")];
  const messages = work("one", [output("a", 3000)]);
  await here.prune(messages);
  await there.prune([{ role: "user", content: "Mine." }]);
  assert.equal((await here.prune(messages)).transcriptLength, messages.length);
  await there.delete();
  const view = await here.prune([...messages, { role: "user", content: "More." }]);
  assert.equal(view.transcriptLength, messages.length + 1);
});

test("a history of 10 MB goes in chunks, and its originals come back to the character", async () => {
  const session = open("large");
  const texts = Array.from({ length: 10 }, (_, index) => output(`part ${index}`, 1024 * 1024));
  const messages = work("large", texts);
  await session.flush(messages).wait();
  const view = await session.prune(messages);
  assert.ok(JSON.stringify(view.messages).length < 200_000);
  assert.equal(await verbatim(session, "t10"), texts[9]);
});

test("emoji and lone surrogates come back as they were", async () => {
  const session = open("characters");
  const text = "😀 한글 \u0000 \u2028 \ud800 half \udfff\r\n".repeat(50);
  const messages = work("odd", [text]);
  await session.flush(messages).wait();
  messages.push({ role: "user", content: "an untouched \ud800 one" });
  const view = await session.prune(messages);
  assert.equal(view.messages.at(-1), messages.at(-1));
  assert.deepEqual((await session.prune(messages, { minSavingsChars: 0 })).messages, view.messages);
  assert.equal(await verbatim(session, "t1"), text);
});

test("a dry run changes nothing", async () => {
  const session = open("dry");
  const messages = work("one", [output("a", 3000)]);
  const view = await session.prune(messages, { dryRun: true });
  assert.equal(view.messages[1], messages[1]);
  await assert.rejects(session.query(["t1"]), condense.SessionNotFoundError);
});

test("errors of the server are of the class of their reason", async () => {
  const options = { format: "openai-chat" as const };
  await assert.rejects(client.session("x".repeat(5000), options).prune([]), condense.SessionIdInvalidError);
  await assert.rejects(
    client.session("c", { ...options, config: { minBatchChars: -1 } }).prune([]),
    (error) => error instanceof condense.ConfigInvalidError && error.violations[0]?.field === "config.min_batch_chars",
  );
  const config = { summarizerModel: "nobody:nothing" };
  await assert.rejects(client.session("m", { ...options, config }).prune([]), condense.SummarizerUnknownError);
  await assert.rejects(open("tokens").diagnostics({ pageToken: "?" }), condense.CondenseError);
  const slice = condense.slices.matches("t1", "(", { regex: true });
  const session = open("patterns");
  await session.prune([]);
  await assert.rejects(session.query(["t1"], { slices: [slice] }), condense.PatternInvalidError);
});

test("a session goes on after a server was killed and came back with the same file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "condense-"));
  const own = new Server(`sqlite:///${join(folder, "sessions.db")}`);
  await own.start();
  const local = new CondenseClient(own.address, { retry: { maxAttempts: 2, firstDelayMs: 10, maxDelayMs: 100 } });
  try {
    const session = open("restart", local);
    const messages = work("one", [output("a", 3000)]);
    await session.flush(messages).wait();
    await own.stop("SIGKILL");
    await assert.rejects(session.prune(messages), condense.UnavailableError);
    await own.start();
    messages.push(...work("two", [output("b", 3000)]));
    await session.flush(messages).wait();
    assert.equal(await verbatim(session, "t1"), output("a", 3000));
    assert.equal(await verbatim(session, "t2"), output("b", 3000));
    await own.stop();
    await own.start();
    assert.match((await session.prune(messages)).messages[2]?.content ?? "", /ref `t1`/);
  } finally {
    local.close();
    await own.stop();
    await rm(folder, { recursive: true });
  }
});

test("a process ends by itself once its client is closed", async () => {
  const index = new URL("../src/index.js", import.meta.url).href;
  const program = `
    import { CondenseClient } from ${JSON.stringify(index)};
    const client = new CondenseClient(${JSON.stringify(server.address)});
    const session = client.session("exit", { format: "pi" });
    await session.prune([]);
    session.flush().next().catch(() => undefined);
    client.close();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: "inherit",
    cwd: fileURLToPath(new URL(".", import.meta.url)),
  });
  const [code] = (await once(child, "exit")) as [number];
  assert.equal(code, 0);
});
