/** The connection to a server, out of which sessions are opened. */

import type { DescService } from "@bufbuild/protobuf";
import type { Client, Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { Connection } from "./connection.js";
import type { GetCapabilitiesResponse } from "./gen/condense/v1/capabilities_pb.js";
import { Http2Connection } from "./http2-connection.js";
import { resolveOptions, type CallOptions, type ClientOptions } from "./options.js";
import { toPlain, type Plain } from "./plain.js";
import { Session, type SessionOptions } from "./session.js";

/** A connection to a server. `close` it at the end: until then it may keep the process alive. */
export class CondenseClient {
  private readonly connection: Connection;

  /**
   * Connects, at the first call, to `host:port` in plain text or to `https://host:port`; or uses a transport that is
   * there already, which `close` leaves as it is.
   */
  constructor(target: string | Transport, options: ClientOptions = {}) {
    const resolved = resolveOptions(options);
    if (typeof target !== "string") {
      this.connection = new Connection(target, resolved, () => undefined);
      return;
    }
    const baseUrl = /^https?:\/\//.test(target) ? target : `http://${target}`;
    const sessionManager = new Http2Connection(baseUrl, resolved);
    const transport = createGrpcTransport({
      baseUrl,
      sessionManager,
      readMaxBytes: resolved.maxMessageBytes,
      writeMaxBytes: resolved.maxMessageBytes,
    });
    this.connection = new Connection(transport, resolved, () => sessionManager.close());
  }

  /**
   * A session of the server; its first call creates it, with `config`, if it does not exist.
   *
   * `T` is what the caller's messages are, for example `ChatCompletionMessageParam`.
   */
  session<T extends object = Record<string, unknown>>(sessionId: string, options: SessionOptions): Session<T> {
    return new Session<T>(this.connection, sessionId, options);
  }

  /** What the server can do, and its limits. */
  async capabilities(options: CallOptions = {}): Promise<Plain<GetCapabilitiesResponse>> {
    const response = await this.connection.call("", options, (attempt) =>
      this.connection.capabilities.getCapabilities({}, attempt),
    );
    return toPlain(response);
  }

  /**
   * The methods of a service of the contract, over this connection, for what is not here. They are not tried again, and
   * fail with `ConnectError`.
   */
  service<S extends DescService>(service: S): Client<S> {
    return this.connection.service(service);
  }

  /** Ends all calls and the connection. The sessions stay on the server. */
  close(): void {
    this.connection.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
