/** How a client connects and how long it waits. */

import type { SecureClientSessionOptions } from "node:http2";

import { RequestInvalidError } from "./errors.js";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.js";

const MIB = 1024 * 1024;

/** Options of a client. The defaults fit a server with default settings. */
export interface ClientOptions {
  /** Sent as a bearer. */
  readonly token?: string;
  /** Options of the connection, for example `ca`, `cert` and `key`, for targets that begin with `https://`. */
  readonly tls?: SecureClientSessionOptions;
  /** The limit of one gRPC message in both directions; should equal the server's. Default 64 MiB. */
  readonly maxMessageBytes?: number;
  /** New messages of more than this are uploaded as a stream of chunks. Default 2 MiB. */
  readonly unaryDeltaBytes?: number;
  /** The size of such chunks. Default 1 MiB. */
  readonly chunkBytes?: number;
  /** How often the connection is probed during calls; a server that allows fewer probes closes it. Default 60 s. */
  readonly keepaliveMs?: number;
  /** Timeouts hold for one attempt. Default 30 s; 0: none. */
  readonly callTimeoutMs?: number;
  /** For uploads. Default 300 s; 0: none. */
  readonly uploadTimeoutMs?: number;
  /** When calls are tried again. */
  readonly retry?: RetryPolicy;
}

/** Options with every default filled in. */
export type ResolvedOptions = Required<Omit<ClientOptions, "token" | "tls">> & Pick<ClientOptions, "token" | "tls">;

/** Options with every default filled in. */
export function resolveOptions(options: ClientOptions): ResolvedOptions {
  if (/[^ -~]/.test(options.token ?? "")) {
    throw new RequestInvalidError("the token has characters that no header can hold: check it");
  }
  return {
    maxMessageBytes: 64 * MIB,
    unaryDeltaBytes: 2 * MIB,
    chunkBytes: MIB,
    keepaliveMs: 60_000,
    callTimeoutMs: 30_000,
    uploadTimeoutMs: 300_000,
    retry: DEFAULT_RETRY,
    ...options,
  };
}

/** What a single call can be told. */
export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** How long one attempt may take, instead of the client's default; 0: as long as it takes. */
  readonly timeoutMs?: number | undefined;
}
