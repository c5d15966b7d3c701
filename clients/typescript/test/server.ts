/** A real server for tests, and histories to send to it. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";

/** The interpreter that has condense_grpc. */
export const PYTHON = process.env["CONDENSE_PYTHON"] ?? "python3";

/** A server process on a free loopback port. A restart uses the same port and the same store. */
export class Server {
  address = "127.0.0.1:0";
  private process: ChildProcess | undefined;

  constructor(private readonly store = "memory:") {}

  /** Starts it and waits until it listens. */
  async start(): Promise<this> {
    const server = spawn(
      PYTHON,
      ["-m", "condense_grpc.cli.main", "serve", "--listen", this.address, "--store", this.store],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.process = server;
    let heard = "";
    const address = new Promise<string>((resolve, reject) => {
      server.stdout.on("data", (chunk) => {
        heard += String(chunk);
        const found = /listening on (127\.0\.0\.1:\d+)/.exec(heard);
        if (found?.[1]) {
          resolve(found[1]);
        }
      });
      server.on("error", reject);
      server.on("exit", () => reject(new Error(`the server did not start: ${heard}`)));
    });
    this.address = await address;
    return this;
  }

  /** Has it hang (`SIGSTOP`), or go on (`SIGCONT`). */
  signal(signal: NodeJS.Signals): void {
    this.process?.kill(signal);
  }

  /** Ends it: SIGKILL as a crash would, SIGTERM so that it finishes what it does. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const server = this.process;
    this.process = undefined;
    if (server && server.exitCode === null && server.signalCode === null) {
      server.kill(signal);
      await once(server, "exit");
    }
  }
}

export interface ChatMessage {
  role: "user" | "assistant" | "tool";
  content: string | null;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** A piece of work: a question, calls with results of `text`, and the answer to it. */
export function work(name: string, texts: readonly string[]): ChatMessage[] {
  return [
    { role: "user", content: `Do ${name}.` },
    ...texts.flatMap((text, index): ChatMessage[] => {
      const id = `${name}-${index}`;
      const call = { name: "bash", arguments: JSON.stringify({ command: `cat ${id}` }) };
      return [
        { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: call }] },
        { role: "tool", tool_call_id: id, content: text },
      ];
    }),
    { role: "assistant", content: `${name} is done.` },
  ];
}

/** A tool output of about that size, with lines. */
export function output(name: string, chars: number): string {
  let text = "";
  for (let line = 1; text.length < chars; line++) {
    text += `${name} line ${line}: nothing to see here\n`;
  }
  return text;
}
