/**
 * An agent loop over any OpenAI-compatible API, on condense_grpc.
 *
 *     OPENAI_BASE_URL=http://127.0.0.1:8080/v1 node agent.js 127.0.0.1:50051 "What is in this folder?"
 */

import { execFile } from "node:child_process";

import { CondenseClient, RECOVERY_TOOL_NAME, recoveryTool, UnavailableError, type Session } from "../src/index.js";

interface Message {
  role: "user" | "assistant" | "tool";
  content: string | null;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

const BASH = {
  type: "function",
  function: {
    name: "bash",
    description: "Runs a command.",
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
};
const TOOLS = [BASH, recoveryTool("openai")]; // the same list in every request

async function askModel(messages: readonly Message[]): Promise<Message> {
  const response = await fetch(`${process.env["OPENAI_BASE_URL"] ?? "http://127.0.0.1:8080/v1"}/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${process.env["OPENAI_API_KEY"] ?? "none"}`,
    },
    body: JSON.stringify({ model: process.env["MODEL"] ?? "default", messages, tools: TOOLS }),
  });
  if (!response.ok) {
    throw new Error(`the model answered ${response.status}: ${await response.text()}`);
  }
  const { choices } = (await response.json()) as { choices: { message: Message }[] };
  return choices[0]?.message ?? { role: "assistant", content: "" };
}

function runCommand(argumentsJson: string): Promise<string> {
  const { command } = JSON.parse(argumentsJson) as { command: string };
  return new Promise((resolve) => {
    execFile("bash", ["-c", command], (error, stdout, stderr) => {
      resolve(`${stdout}${stderr}${error ? `\nfailed: ${error.message}` : ""}` || "(no output)");
    });
  });
}

/** What to send to the model: the view, or the raw history if the service is not there. */
async function viewOf(session: Session<Message>, messages: readonly Message[]): Promise<readonly Message[]> {
  try {
    return (await session.prune(messages)).messages;
  } catch (error) {
    if (error instanceof UnavailableError) {
      return messages;
    }
    throw error;
  }
}

/** Works on a question until the model answers with text only. `messages` is the raw history, which grows. */
async function work(session: Session<Message>, messages: Message[]): Promise<string> {
  for (;;) {
    const reply = await askModel(await viewOf(session, messages));
    messages.push(reply);
    for (const call of reply.tool_calls ?? []) {
      const { name, arguments: args } = call.function;
      const content = name === RECOVERY_TOOL_NAME ? await session.answerToolCall(args) : await runCommand(args);
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
    if (!reply.tool_calls?.length) {
      return reply.content ?? "";
    }
  }
}

const [address = "127.0.0.1:50051", question = "What is in this folder?"] = process.argv.slice(2);
const client = new CondenseClient(address);
try {
  const session = client.session<Message>(`example-${process.pid}`, { format: "openai-chat" });
  const messages: Message[] = [{ role: "user", content: question }];
  console.log(await work(session, messages));
  const { counts } = await session.flush(messages).wait();
  console.log(`condensed ${counts?.rawChars ?? 0} characters of results to ${counts?.summaryChars ?? 0}`);
} finally {
  client.close();
}
