/** The real Pi, headless, with this extension as an installed package, a folder of its own, and a model by a script. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const PACKAGE = fileURLToPath(new URL("../../..", import.meta.url));
export const PYTHON = process.env["CONDENSE_PYTHON"] ?? "python3";
export const PI = join(PACKAGE, "node_modules/@earendil-works/pi-coding-agent/dist/cli.js");
const PATIENCE_MS = 60_000;

/** A turn of the model: see condense_grpc.testing.strict_provider. */
export interface Turn {
  text?: string;
  calls?: { name: string; arguments: object }[];
  quote_chars?: number;
  failure?: { status: number; message?: string };
}

export interface ChatMessage {
  role: string;
  content: string | { type: string; text: string }[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** A model that refuses invalid histories and answers by a script. */
export class Provider {
  private constructor(
    private readonly process: ChildProcess,
    readonly baseUrl: string,
    private readonly log: string,
  ) {}

  static async start(folder: string, script: readonly Turn[]): Promise<Provider> {
    const file = join(folder, "script.json");
    const log = join(folder, "requests.jsonl");
    await writeFile(file, JSON.stringify(script));
    const args = ["-m", "condense_grpc.testing.strict_provider", file, "--log", log];
    const process = spawn(PYTHON, args, { stdio: ["ignore", "pipe", "inherit"] });
    const line = await new Promise<Buffer>((resolve, reject) => {
      process.stdout.once("data", resolve);
      process.once("exit", () => reject(new Error("the provider did not start")));
    });
    const { base_urls } = JSON.parse(String(line)) as { base_urls: { openai: string } };
    return new Provider(process, base_urls.openai, log);
  }

  /** The requests so far. */
  async requests(): Promise<{ refused: string; body: { messages: ChatMessage[]; tools: object[] } }[]> {
    const lines = (await readFile(this.log, "utf8")).split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Awaited<ReturnType<Provider["requests"]>>[number]);
  }

  stop(): void {
    this.process.kill();
  }
}

/** A Pi process that speaks its RPC protocol. */
export class Pi {
  readonly heard: Record<string, unknown>[] = [];
  readonly errors: string[] = [];
  private readonly process: ChildProcess;
  private wake: () => void = () => undefined;
  private rest = "";

  constructor(place: Place, target: string, args: readonly string[] = []) {
    const base = ["--mode", "rpc", "--provider", "strict", "--model", "scripted", "--session-dir", place.sessions];
    this.process = spawn(process.execPath, [PI, ...base, ...args], {
      cwd: place.work,
      env: { ...process.env, ...place.environment, CONDENSE_TARGET: target },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.process.stdout?.on("data", (chunk: Buffer) => this.hear(String(chunk)));
    this.process.stderr?.on("data", (chunk: Buffer) => this.errors.push(String(chunk)));
    this.process.on("exit", () => this.wake());
  }

  /** Sends a command of the protocol and waits for its response. */
  async command(command: { type: string } & Record<string, unknown>): Promise<Record<string, unknown>> {
    const id = `${command.type}-${this.heard.length}-${Math.random()}`;
    this.process.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
    const response = await this.until((event) => event["type"] === "response" && event["id"] === id);
    if (response["success"] !== true) {
      throw new Error(`${command.type}: ${JSON.stringify(response)}`);
    }
    return response;
  }

  /** Prompts and waits until the agent is done. */
  async prompt(message: string): Promise<void> {
    const from = this.heard.length;
    await this.command({ type: "prompt", message });
    await this.until((event) => event["type"] === "agent_end" && !this.isRetrying(from), from);
    while (JSON.stringify(await this.command({ type: "get_state" })).includes('"isStreaming":true')) {
      // It has told of its end before it has come to it.
    }
  }

  /** Waits for an event, also one that has come since `from`. */
  async until(wanted: (event: Record<string, unknown>) => boolean, from = 0): Promise<Record<string, unknown>> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = this.heard.slice(from).find(wanted);
      if (found) {
        return found;
      }
      if (this.process.exitCode !== null || Date.now() > deadline) {
        throw new Error(`Pi did not say it: ${this.errors.join("")} ${JSON.stringify(this.heard.slice(-5))}`);
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, 500).unref();
      });
    }
  }

  /** What the extension has shown in the status line. */
  get statuses(): string[] {
    return this.ui("setStatus").map((event) => String(event["statusText"] ?? ""));
  }

  /** What the extension has said. */
  get notices(): string[] {
    return this.ui("notify").map((event) => String(event["message"]));
  }

  /** Has it end, and tells how. */
  async stop(signal: NodeJS.Signals | undefined = undefined): Promise<number | null> {
    if (this.process.exitCode === null) {
      const exit = once(this.process, "exit");
      if (signal) {
        this.process.kill(signal);
      } else {
        this.process.stdin?.end();
      }
      await exit;
    }
    return this.process.exitCode;
  }

  private ui(method: string): Record<string, unknown>[] {
    return this.heard.filter((event) => event["type"] === "extension_ui_request" && event["method"] === method);
  }

  private isRetrying(from: number): boolean {
    const events = this.heard.slice(from).map((event) => event["type"]);
    return events.lastIndexOf("auto_retry_start") > events.lastIndexOf("auto_retry_end");
  }

  private hear(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    this.heard.push(...lines.filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>));
    this.wake();
  }
}

/** A folder with an agent directory, a place to work in, and a place for sessions. */
export class Place {
  readonly environment: NodeJS.ProcessEnv;

  private constructor(readonly root: string) {
    this.environment = { PI_CODING_AGENT_DIR: this.agent, PI_OFFLINE: "1", PI_TELEMETRY: "0", HOME: root };
  }

  static async make(): Promise<Place> {
    const place = new Place(await mkdtemp(join(tmpdir(), "pi-condense-")));
    for (const folder of [place.agent, place.work, place.sessions]) {
      await mkdir(folder);
    }
    return place;
  }

  get agent(): string {
    return join(this.root, "agent");
  }

  get work(): string {
    return join(this.root, "work");
  }

  get sessions(): string {
    return join(this.root, "sessions");
  }

  /** Writes Pi's own files: the model, and this package as an installed one. */
  async configure(provider: Provider): Promise<void> {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const model = { id: "scripted", input: ["text"], contextWindow: 128_000, maxTokens: 4096, cost };
    const strict = { baseUrl: provider.baseUrl, api: "openai-completions", apiKey: "none", models: [model] };
    await writeFile(join(this.agent, "models.json"), JSON.stringify({ providers: { strict } }));
    const settings = { packages: [PACKAGE], extensions: [join(PACKAGE, "build/pi-extension/test/commands.js")] };
    const retry = { enabled: true, baseDelayMs: 10 };
    await writeFile(join(this.agent, "settings.json"), JSON.stringify({ ...settings, retry }));
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
