/**
 * One Pi session on the service: what goes to the model, the flushes, and what happens while the service is not there.
 *
 * Pi never waits long and never fails because of the service. Without it the model gets what it was shown last, with
 * everything new behind it; if it was shown nothing yet, Pi's own list, untouched.
 */

import {
  CancelledError,
  CondenseClient,
  CondenseError,
  DeadlineExceededError,
  FlushOutcome,
  FlushTrigger,
  SessionNotFoundError,
  UnavailableError,
  type FlushCompleted,
  type FlushStream,
  type Session,
} from "@condense-grpc/client";

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

import { adopt } from "./adoption.js";
import { SentList, type PiMessage } from "./history.js";
import type { Host } from "./host.js";
import { ended, Progress } from "./progress.js";
import type { Settings } from "./settings.js";

/** How long Pi waits for an answer before it goes on without. */
const PATIENCE_MS = 10_000;

/** The same, where a long history has to be sent first. */
const UPLOAD_PATIENCE_MS = 30_000;

/** For how long a service that was slow to be missed is not asked. */
const PAUSE_MS = 30_000;

/** How long Pi waits at its end for a flush. */
const FAREWELL_MS = 10_000;

/** What a request can be made with. */
export interface RequestFacts {
  readonly usage?: { readonly tokens?: number; readonly contextWindow: number } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A Pi session on the service. */
export class Pruner {
  readonly session: Session<PiMessage>;
  private readonly client: CondenseClient;
  private shown: { readonly elements: readonly string[]; readonly view: readonly PiMessage[] } | undefined;
  private askAgainAt = 0;
  private isAbsent = false;
  private flushing: Promise<FlushCompleted | undefined> | undefined;
  private flushed = "";

  constructor(
    private readonly settings: Settings,
    sessionId: string,
    private readonly host: Host,
  ) {
    const { target, token, config } = settings;
    const retry = { maxAttempts: 2, firstDelayMs: 100, maxDelayMs: 1000 };
    this.client = new CondenseClient(target, { ...(token && { token }), retry });
    this.session = this.client.session<PiMessage>(sessionId, { format: "pi", ...(config && { config }) });
  }

  /** Looks whether the service is there and knows the session, and shows how that is doing. */
  async greet(sessions: ExtensionContext["sessionManager"]): Promise<void> {
    const startedAt = Date.now();
    try {
      this.host.status((await this.session.diagnostics({ timeoutMs: PATIENCE_MS })).statusLine);
    } catch (error) {
      if (error instanceof SessionNotFoundError) {
        // Without it the session begins with the first request, which is only dearer.
        await adopt(this.client, sessions, AbortSignal.timeout(PATIENCE_MS)).catch(() => false);
      } else {
        this.missed(error, startedAt);
      }
    }
  }

  /** What the model is to see instead of Pi's list. undefined: that list, untouched. */
  async view(messages: readonly PiMessage[], facts: RequestFacts): Promise<PiMessage[] | undefined> {
    const list = new SentList(messages);
    const startedAt = Date.now();
    if (startedAt < this.askAgainAt) {
      return this.fallback(list);
    }
    const limit = AbortSignal.timeout(UPLOAD_PATIENCE_MS);
    const signal = facts.signal ? AbortSignal.any([facts.signal, limit]) : limit;
    try {
      const view = await this.session.prune(list.elements, { ...facts, signal, timeoutMs: PATIENCE_MS });
      this.isThere();
      this.shown = { elements: list.elements.map((element) => JSON.stringify(element)), view: view.messages };
      if (!this.flushing) {
        this.host.status(view.statusLine);
      }
      if (view.advice?.running && !this.flushing) {
        void this.followService();
      }
      return list.restore(view.messages);
    } catch (error) {
      this.missed(limit.aborted ? new UnavailableError("no answer in time") : error, startedAt);
      return this.fallback(list);
    }
  }

  /** The last view with what has come since behind it, if that still fits. */
  private fallback(list: SentList): PiMessage[] | undefined {
    const { shown } = this;
    const texts = list.elements.map((element) => JSON.stringify(element));
    if (!shown || shown.elements.some((text, index) => text !== texts[index])) {
      return undefined;
    }
    return list.restore([...shown.view, ...list.elements.slice(shown.elements.length)]);
  }

  /** Condenses what is finished, and shows how it goes. Returns at once; the same list is not flushed twice. */
  flush(messages: readonly PiMessage[], trigger: FlushTrigger): Promise<FlushCompleted | undefined> {
    const { elements } = new SentList(messages);
    const last = elements.at(-1);
    const state = `${elements.length} ${last ? JSON.stringify(last) : ""}`;
    const isMissed = Date.now() < this.askAgainAt;
    if (trigger !== FlushTrigger.MANUAL && (isMissed || state === this.flushed)) {
      return this.flushing ?? Promise.resolve(undefined);
    }
    this.flushed = state;
    return this.follow(this.session.flush(elements, { trigger }));
  }

  /** Compresses every finished chain, and shows how it goes. */
  compact(): Promise<FlushCompleted | undefined> {
    return this.follow(this.session.compact());
  }

  /** Shows how a flush goes that the service has begun by itself; it may be over before it can be followed. */
  private async followService(): Promise<void> {
    const completed = await this.follow(this.session.flush());
    if (completed?.outcome !== FlushOutcome.EMPTY) {
      return;
    }
    try {
      const { lastFlushes } = await this.session.diagnostics({ timeoutMs: PATIENCE_MS });
      const last = lastFlushes.find((flush) => flush.outcome !== FlushOutcome.EMPTY);
      if (last && !this.flushing) {
        this.host.status(ended(last.outcome, last.processedBatches));
      }
    } catch {
      // It is told with the next request.
    }
  }

  private follow(stream: FlushStream): Promise<FlushCompleted | undefined> {
    const before = this.flushing ?? Promise.resolve(undefined);
    const flushing = before.then(() => this.show(stream));
    this.flushing = flushing;
    void flushing.then(() => {
      if (this.flushing === flushing) {
        this.flushing = undefined;
      }
    });
    return flushing;
  }

  private async show(stream: FlushStream): Promise<FlushCompleted | undefined> {
    const progress = new Progress();
    try {
      for await (const event of stream) {
        const text = progress.after(event);
        if (text) {
          this.host.status(text);
        }
        if (event.event.case === "notice" && event.event.value.level > 1) {
          this.host.sayOnce(event.event.value.text, "warning");
        }
      }
      this.isThere();
    } catch (error) {
      this.flushed = "";
      this.host.status(undefined);
      this.tell(error);
    }
    return stream.completed;
  }

  /** A service that was slow to fail is not asked for a while, so that Pi does not wait in every turn. */
  private missed(error: unknown, startedAt: number): void {
    if (isAbsence(error) && Date.now() - startedAt > 1000) {
      this.askAgainAt = Date.now() + PAUSE_MS;
    }
    this.tell(error);
  }

  private isThere(): void {
    this.askAgainAt = 0;
    if (this.isAbsent) {
      this.isAbsent = false;
      this.host.say(`The condense service at ${this.settings.target} is back.`);
    }
  }

  /** Says once what is wrong. A person who cancels knows. */
  private tell(error: unknown): void {
    if (error instanceof CancelledError) {
      return;
    }
    if (isAbsence(error)) {
      if (!this.isAbsent) {
        this.isAbsent = true;
        this.host.status(undefined);
        this.host.say(
          `The condense service at ${this.settings.target} does not answer: Pi goes on without it. ` +
            "Start it with `condense-grpc serve`; it is asked again with later requests.",
          "warning",
        );
      }
      return;
    }
    const reason = error instanceof CondenseError && error.reason ? `${error.reason}: ` : "";
    this.host.sayOnce(`condense: ${reason}${error instanceof Error ? error.message : String(error)}`, "error");
  }

  /** Waits for flushes, but not long, and closes the connection. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      this.flushing,
      new Promise((resolve) => {
        timer = setTimeout(resolve, FAREWELL_MS);
      }),
    ]);
    clearTimeout(timer);
    this.host.leave();
    this.client.close();
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof UnavailableError || error instanceof DeadlineExceededError;
}
