/**
 * Messages of the contract as plain values: numbers instead of bigints, dates instead of timestamps, and nothing of
 * the protobuf library. Counts and sizes of this contract stay far below 2^53.
 */

import { create, ScalarType, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** A message of the contract as a plain value. */
export type Plain<T> = T extends bigint
  ? number
  : T extends Uint8Array | Date
    ? T
    : T extends Timestamp
      ? Date
      : T extends readonly (infer U)[]
        ? Plain<U>[]
        : T extends object
          ? { [K in Exclude<keyof T, "$typeName" | "$unknown">]: Plain<T[K]> }
          : T;

/** The plain value of a message. */
export function toPlain<T>(value: T): Plain<T> {
  return plain(value) as Plain<T>;
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") {
    return Number(value);
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if ("$typeName" in value && value.$typeName === "google.protobuf.Timestamp") {
    const { seconds, nanos } = value as Timestamp;
    return new Date(Number(seconds) * 1000 + nanos / 1e6);
  }
  const members = Object.entries(value).filter(([name]) => name !== "$typeName" && name !== "$unknown");
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
}

/** What a message can be made of: as the library takes it, with numbers where the contract has 64 bits. */
export type Init<Desc extends DescMessage> = Numeric<MessageInitShape<Desc>>;

type Numeric<T> = T extends bigint
  ? bigint | number
  : T extends Uint8Array
    ? T
    : T extends object
      ? { [K in keyof T]: Numeric<T[K]> }
      : T;

/** A text that UTF-8 cannot hold, or a number that is not whole, in what a message was to be made of. */
export class NotEncodable extends Error {}

/** A message out of what a caller gave. Throws `NotEncodable`. */
export function fromInit<Desc extends DescMessage>(schema: Desc, init: Init<Desc>): MessageShape<Desc> {
  const message = create(schema, init as MessageInitShape<Desc>);
  encodable(schema, message as Record<string, unknown>, "");
  return message;
}

/** Turns numbers into bigints where the contract has 64 bits, and checks texts. */
function encodable(schema: DescMessage, message: Record<string, unknown>, path: string): void {
  for (const field of schema.fields) {
    const holder = field.oneof ? (message[field.oneof.localName] as Record<string, unknown>) : message;
    const member = field.oneof ? "value" : field.localName;
    if (field.oneof && holder["case"] !== field.localName) {
      continue;
    }
    const at = `${path}${field.localName}`;
    const convert = (value: unknown): unknown => {
      if (field.message && typeof value === "object" && value !== null) {
        encodable(field.message, value as Record<string, unknown>, `${at}.`);
        return value;
      }
      if (typeof value === "string" && !value.isWellFormed()) {
        throw new NotEncodable(`${at} holds a lone surrogate, half of a character: replace it, for example by U+FFFD`);
      }
      if (field.enum && typeof value !== "number") {
        throw new NotEncodable(`${at} is ${JSON.stringify(value)}: give a member of ${field.enum.name}`);
      }
      const isWide = field.scalar === ScalarType.INT64 || field.scalar === ScalarType.UINT64;
      if (isWide && typeof value === "number") {
        if (!Number.isSafeInteger(value)) {
          throw new NotEncodable(`${at} is ${value}: give a whole number`);
        }
        return BigInt(value);
      }
      return value;
    };
    const value = holder[member];
    if (value !== undefined) {
      holder[member] = Array.isArray(value) ? value.map(convert) : convert(value);
    }
  }
}
