/**
 * Reads the rich details of a failed call: `google.rpc.ErrorInfo`, `RetryInfo` and `BadRequest`.
 *
 * The three messages are small and frozen, so their wire format is read here. Whatever cannot be read counts as
 * absent: a client that fails must be able to say so, also if a proxy has mangled the details.
 */

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** A field of the request that cannot be used, by its path in the contract, and what is wrong with it. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** What the details say. Of several of a kind the first counts. */
export interface StatusDetails {
  readonly reason: string;
  readonly domain: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** How long the server wants the caller to wait. */
  readonly retryAfterMs: number | undefined;
  readonly violations: readonly FieldViolation[];
}

export const NO_DETAILS: StatusDetails = {
  reason: "",
  domain: "",
  metadata: {},
  retryAfterMs: undefined,
  violations: [],
};

/** A detail as it came: the name of its message, and that message's bytes. */
export interface RawDetail {
  readonly type: string;
  readonly value: Uint8Array;
}

/** What the details say. */
export function readDetails(details: readonly RawDetail[]): StatusDetails {
  const first = (type: string) => details.find((detail) => detail.type === type)?.value;
  try {
    const info = first("google.rpc.ErrorInfo");
    const retry = first("google.rpc.RetryInfo");
    const badRequest = first("google.rpc.BadRequest");
    return {
      reason: info ? text(info, 1) : "",
      domain: info ? text(info, 2) : "",
      metadata: Object.fromEntries(info ? messages(info, 3).map((entry) => [text(entry, 1), text(entry, 2)]) : []),
      retryAfterMs: retry ? milliseconds(messages(retry, 1).at(-1) ?? new Uint8Array()) : undefined,
      violations: (badRequest ? messages(badRequest, 1) : []).map((violation) => ({
        field: text(violation, 1),
        description: text(violation, 2),
      })),
    };
  } catch {
    return NO_DETAILS;
  }
}

/** A `google.protobuf.Duration`; a negative one is no time at all. */
function milliseconds(duration: Uint8Array): number {
  let total = 0;
  const reader = new BinaryReader(duration);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.Varint) {
      total += Number(reader.int64()) * 1000;
    } else if (number === 2 && wireType === WireType.Varint) {
      total += reader.int32() / 1e6;
    } else {
      reader.skip(wireType, number);
    }
  }
  return Math.max(0, total);
}

/** The last value of a field, as protobuf wants it. */
function text(message: Uint8Array, wanted: number): string {
  const last = messages(message, wanted).at(-1);
  return last ? new TextDecoder().decode(last) : "";
}

/** The values of a field of bytes, texts or messages. */
function messages(message: Uint8Array, wanted: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === wanted && wireType === WireType.LengthDelimited) {
      found.push(reader.bytes());
    } else {
      reader.skip(wireType, number);
    }
  }
  return found;
}
