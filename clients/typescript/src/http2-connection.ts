/** The HTTP/2 connection below a transport: kept alive by probes, and left politely at the end. */

import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";

import { Http2SessionManager } from "@connectrpc/connect-node";

import type { ResolvedOptions } from "./options.js";

/** How long a probe of the connection may take. */
const PROBE_TIMEOUT_MS = 20_000;

/** How long calls that were cancelled may take to be gone before the connection is cut. */
const FAREWELL_MS = 1000;

/** Connects when it is used, and again when the connection is lost. */
export class Http2Connection implements Pick<Http2SessionManager, "authority" | "request" | "notifyResponseByteRead"> {
  private readonly manager: Http2SessionManager;
  private readonly sessions = new Set<ClientHttp2Session>();

  constructor(baseUrl: string, options: ResolvedOptions) {
    const probes = { pingIntervalMs: options.keepaliveMs, pingTimeoutMs: PROBE_TIMEOUT_MS };
    this.manager = new Http2SessionManager(baseUrl, probes, options.tls);
  }

  get authority(): string {
    return this.manager.authority;
  }

  async request(...args: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    const stream = await this.manager.request(...args);
    const { session } = stream;
    if (session && !this.sessions.has(session as ClientHttp2Session)) {
      this.sessions.add(session as ClientHttp2Session);
      session.once("close", () => this.sessions.delete(session as ClientHttp2Session));
    }
    return stream;
  }

  notifyResponseByteRead(stream: ClientHttp2Stream): void {
    this.manager.notifyResponseByteRead(stream);
  }

  /** Ends the connection as soon as nothing is under way on it, at once if nothing is. */
  close(): void {
    for (const session of this.sessions) {
      session.close();
    }
    if (this.sessions.size === 0) {
      this.manager.abort();
    } else {
      setTimeout(() => this.manager.abort(), FAREWELL_MS).unref();
    }
  }
}
