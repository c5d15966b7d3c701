/** A service in the same process whose answers a test decides, and which keeps the requests that reach it. */

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";

import { CondenseClient, type ClientOptions } from "../src/index.js";
import { CondenseService } from "../src/contract.js";

/** A client of a service with these methods. Waits between attempts are short. */
export function fakeClient(service: Partial<ServiceImpl<typeof CondenseService>>, options: ClientOptions = {}) {
  const transport = createRouterTransport(({ service: register }) => register(CondenseService, service));
  return new CondenseClient(transport, { retry: { maxAttempts: 4, firstDelayMs: 1, maxDelayMs: 50 }, ...options });
}

/** An error as the server makes them. */
export function failure(
  code: Code,
  reason: string,
  extra: { metadata?: Record<string, string>; retryAfterMs?: number; domain?: string } = {},
): ConnectError {
  const info = new BinaryWriter();
  info.tag(1, WireType.LengthDelimited).string(reason);
  info.tag(2, WireType.LengthDelimited).string(extra.domain ?? "condense.v1");
  for (const [key, value] of Object.entries(extra.metadata ?? {})) {
    info.tag(3, WireType.LengthDelimited).fork();
    info.tag(1, WireType.LengthDelimited).string(key).tag(2, WireType.LengthDelimited).string(value);
    info.join();
  }
  const error = new ConnectError(`the sentence of ${reason}`, code);
  error.details.push({ type: "google.rpc.ErrorInfo", value: info.finish() });
  if (extra.retryAfterMs !== undefined) {
    const retry = new BinaryWriter();
    retry.tag(1, WireType.LengthDelimited).fork();
    retry.tag(1, WireType.Varint).int64(Math.floor(extra.retryAfterMs / 1000));
    retry.tag(2, WireType.Varint).int32((extra.retryAfterMs % 1000) * 1e6);
    retry.join();
    error.details.push({ type: "google.rpc.RetryInfo", value: retry.finish() });
  }
  return error;
}
