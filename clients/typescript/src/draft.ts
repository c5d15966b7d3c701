/**
 * A caller's list on its way to the server: written as JSON, compared with what was sent, and cut into requests.
 *
 * Writing is the door. What is no JSON object is refused here, with its place in the caller's list and before anything
 * has left. Lone surrogates (half of a character, which UTF-8 cannot hold) are no reason: JSON writes them as escapes.
 */

import { createHash } from "node:crypto";

import { create, type MessageInitShape } from "@bufbuild/protobuf";

import { MessageInvalidError, MessageTooLargeError } from "./errors.js";
import type { SessionConfig } from "./gen/condense/v1/config_pb.js";
import {
  AppendMessagesRequestSchema,
  TranscriptDeltaSchema,
  type AppendMessagesRequest,
  type MessageFormat,
  type TranscriptDelta,
} from "./gen/condense/v1/transcript_pb.js";
import type { Checkpoint, SentHistory } from "./sent-history.js";

/** One list of the caller, as it was when the call began, compared with `sent`. Serves one call. */
export class Draft<T extends object> {
  readonly objects: readonly T[];
  private readonly texts: readonly string[];
  private readonly bytes: readonly number[];
  private readonly digests: readonly string[];
  private unchanged: number;

  constructor(
    private readonly format: MessageFormat,
    objects: readonly T[],
    public sent: SentHistory,
    maxMessageBytes: number,
  ) {
    this.objects = [...objects];
    this.texts = this.objects.map(jsonOf);
    this.bytes = this.texts.map((text) => Buffer.byteLength(text));
    this.digests = this.texts.map((text) => createHash("sha256").update(text).digest("base64"));
    this.unchanged = sent.countUnchanged(this.digests);
    const tooLarge = this.bytes.findIndex((bytes) => bytes > maxMessageBytes);
    if (tooLarge >= 0) {
      throw messageTooLarge(tooLarge, this.bytes[tooLarge] ?? 0, maxMessageBytes);
    }
  }

  /** How many messages the whole list is. */
  get length(): number {
    return this.objects.length;
  }

  /** The latest checkpoint that the list agrees with. */
  base(): Checkpoint {
    return this.sent.baseFor(this.unchanged);
  }

  /** Takes note that the server has the whole list, at this etag, after a delta from `base`. */
  accept(base: Checkpoint, etag: string): SentHistory {
    this.sent = this.sent.extended(base, this.digests, { length: this.length, etag });
    this.unchanged = this.length;
    return this.sent;
  }

  /** The size of the messages behind a base. */
  deltaBytes(base: Checkpoint): number {
    return this.bytes.slice(base.length).reduce((sum, bytes) => sum + bytes + 1, 0);
  }

  /** Everything behind a base. An empty list is sent too: the transcript ends at the base then. */
  delta(base: Checkpoint): TranscriptDelta {
    return create(TranscriptDeltaSchema, {
      baseLength: BigInt(base.length),
      baseEtag: base.etag,
      createIfMissing: true,
      payload: this.payload(base.length, this.length),
    });
  }

  /**
   * Everything behind a base as the requests of an upload, at least one, of about that size. A larger message is alone
   * in its chunk.
   */
  *chunks(
    base: Checkpoint,
    upload: { readonly sessionId: string; readonly config: SessionConfig | undefined; readonly size: number },
  ): Generator<AppendMessagesRequest> {
    let start = base.length;
    let isFirst = true;
    do {
      let end = start;
      for (let filled = 0; end < this.length; end++) {
        filled += (this.bytes[end] ?? 0) + 1;
        if (end > start && filled > upload.size) {
          break;
        }
      }
      const payload = this.payload(start, end);
      const { sessionId, config } = upload;
      const delta = { baseLength: BigInt(base.length), baseEtag: base.etag, createIfMissing: true, payload };
      yield create(
        AppendMessagesRequestSchema,
        isFirst ? { sessionId, delta, ...(config && { config }) } : { delta: { payload } },
      );
      start = end;
      isFirst = false;
    } while (start < this.length);
  }

  private payload(start: number, end: number): NonNullable<MessageInitShape<typeof TranscriptDeltaSchema>["payload"]> {
    const json = Buffer.from(`[${this.texts.slice(start, end).join(",")}]`);
    return { case: "native", value: { format: this.format, json } };
  }
}

/** One element as JSON. Throws `MessageInvalidError`. */
function jsonOf(item: object, index: number): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(item);
  } catch (error) {
    cause = error;
  }
  if (!text?.startsWith("{")) {
    const why = cause instanceof Error ? ` (${cause.name})` : "";
    throw new MessageInvalidError(`message ${index} is no JSON object${why}`, {
      metadata: { messageIndex: String(index) },
      cause,
    });
  }
  return text;
}

function messageTooLarge(index: number, bytes: number, maxBytes: number): MessageTooLargeError {
  return new MessageTooLargeError(
    `message ${index} has ${bytes} bytes, more than the ${maxBytes} of one gRPC message: ` +
      "make it smaller, or raise the limit of client and server",
    { metadata: { messageIndex: String(index), bytes: String(bytes), maxBytes: String(maxBytes) } },
  );
}
