/**
 * Carries out calls: deadlines, cancellation, retries, and errors of the client's own. Knows nothing of what the calls
 * are for.
 */

import { setMaxListeners } from "node:events";

import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client, type Transport } from "@connectrpc/connect";

import { CancelledError, errorOf, UnavailableError, type CondenseError } from "./errors.js";
import { CapabilitiesService } from "./gen/condense/v1/capabilities_service_pb.js";
import { CondenseService } from "./gen/condense/v1/condense_service_pb.js";
import { SessionService } from "./gen/condense/v1/session_service_pb.js";
import type { CallOptions, ResolvedOptions } from "./options.js";
import { withRetries } from "./retry.js";

/** What a single attempt is made with. */
export interface Attempt {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly headers: Headers;
}

/** A server stream whose first message has come. */
export interface OpenStream<M> {
  /** That message; undefined: the stream is empty. */
  readonly first: M | undefined;
  /** The next message; undefined: the stream has ended. */
  next(): Promise<M | undefined>;
  /** Leaves the stream. To be called once it is done with, also at its end. */
  close(): void;
}

/** Longer ids are not for load balancers: the server refuses them, and metadata of their size would not reach it. */
const MAX_SESSION_HEADER = 8000;

/** A connection to a server, shared by the sessions of a client. */
export class Connection {
  readonly condense: Client<typeof CondenseService>;
  readonly sessions: Client<typeof SessionService>;
  readonly capabilities: Client<typeof CapabilitiesService>;
  private readonly lifetime = new AbortController();

  constructor(
    private readonly transport: Transport,
    readonly options: ResolvedOptions,
    private readonly disconnect: () => void,
  ) {
    setMaxListeners(0, this.lifetime.signal); // one per call that is under way
    this.condense = createClient(CondenseService, transport);
    this.sessions = createClient(SessionService, transport);
    this.capabilities = createClient(CapabilitiesService, transport);
  }

  /** The methods of a service as the library has them, with the credentials of this connection. */
  service<S extends DescService>(service: S): Client<S> {
    const { transport } = this;
    const signed = (header: ConstructorParameters<typeof Headers>[0]): Headers => {
      const headers = new Headers(header);
      this.headers("").forEach((value, name) => headers.set(name, value));
      return headers;
    };
    return createClient(service, {
      unary: (method, signal, timeoutMs, header, ...rest) =>
        transport.unary(method, signal, timeoutMs, signed(header), ...rest),
      stream: (method, signal, timeoutMs, header, ...rest) =>
        transport.stream(method, signal, timeoutMs, signed(header), ...rest),
    });
  }

  /** Ends all calls and the connection. */
  close(): void {
    this.lifetime.abort(new CancelledError("the client was closed"));
    this.disconnect();
  }

  /** A call with one answer, tried again as the policy says. */
  async call<R>(sessionId: string, options: CallOptions, send: (attempt: Attempt) => Promise<R>): Promise<R> {
    const timeoutMs = options.timeoutMs ?? this.options.callTimeoutMs;
    const link = new LinkedSignal([this.lifetime.signal, options.signal]);
    try {
      const attempt = { signal: link.signal, headers: this.headers(sessionId), ...(timeoutMs > 0 && { timeoutMs }) };
      return await withRetries(this.options.retry, link.signal, () => send(attempt));
    } finally {
      link.release();
    }
  }

  /** A server stream and its first message. Until that has come, it is tried again. */
  async open<M>(
    sessionId: string,
    options: CallOptions,
    send: (attempt: Attempt) => AsyncIterable<M>,
  ): Promise<OpenStream<M>> {
    const { timeoutMs = 0 } = options;
    const link = new LinkedSignal([this.lifetime.signal, options.signal]);
    const attempt = { signal: link.signal, headers: this.headers(sessionId), ...(timeoutMs > 0 && { timeoutMs }) };
    try {
      return await withRetries(this.options.retry, link.signal, async () => {
        const messages = send(attempt)[Symbol.asyncIterator]();
        const next = async (): Promise<M | undefined> => {
          try {
            const result = await messages.next();
            return result.done ? undefined : result.value;
          } catch (failure) {
            throw errorOf(failure, link.signal);
          }
        };
        return { first: await next(), next, close: () => link.end() };
      });
    } catch (error) {
      link.release();
      throw error;
    }
  }

  private headers(sessionId: string): Headers {
    const headers = new Headers();
    if (this.options.token) {
      headers.set("authorization", `Bearer ${this.options.token}`);
    }
    // For load balancers that keep a session on one server. Metadata is ASCII; the rest is percent-encoded.
    const session = sessionId.replace(/[^!-$&-~]/gu, encodeURIComponent);
    if (session && session.length <= MAX_SESSION_HEADER) {
      headers.set("x-condense-session", session);
    }
    return headers;
  }
}

/** A signal that follows several, for as long as a call takes: long-lived signals do not collect listeners. */
class LinkedSignal {
  private readonly controller = new AbortController();
  private readonly sources: readonly AbortSignal[];

  constructor(sources: readonly (AbortSignal | undefined)[]) {
    this.sources = sources.filter((source) => source !== undefined);
    for (const source of this.sources) {
      source.addEventListener("abort", this.follow);
      if (source.aborted) {
        this.controller.abort(source.reason);
      }
    }
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Stops following. */
  release(): void {
    for (const source of this.sources) {
      source.removeEventListener("abort", this.follow);
    }
  }

  /** Stops following, and ends what still listens. */
  end(): void {
    this.release();
    this.controller.abort(new CancelledError("the stream was left"));
  }

  private readonly follow = (event: Event): void => {
    this.controller.abort((event.target as AbortSignal).reason);
  };
}

/** Whether nothing came back from the server, so that going on where it ended may help. */
export function isUnavailable(error: unknown): error is CondenseError {
  return error instanceof UnavailableError;
}
