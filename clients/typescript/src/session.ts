/**
 * One history of the caller, mirrored by the server.
 *
 * A session remembers what the server has of the history and the edits it was last told. That memory is only ever a
 * shortcut: if the server disagrees, or an answer is lost, more is sent again. Calls may overlap; each works with the
 * memory it has found and replaces it as a whole.
 */

import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";

import { isUnavailable, type Connection, type OpenStream } from "./connection.js";
import { Delivery, MAX_ATTEMPTS } from "./delivery.js";
import type { Draft } from "./draft.js";
import {
  ConfigInvalidError,
  CondenseError,
  DeltaTooLargeError,
  NotImplementedByServerError,
  RequestInvalidError,
  ResultNotFoundError,
  SessionIdInvalidError,
  SessionNotFoundError,
  TranscriptMismatchError,
} from "./errors.js";
import { FlushStream, type FlushEvent } from "./flush-stream.js";
import { SessionConfigSchema, type SessionConfig } from "./gen/condense/v1/config_pb.js";
import type { GetDiagnosticsResponse } from "./gen/condense/v1/diagnostics_pb.js";
import type { Edit } from "./gen/condense/v1/edit_pb.js";
import type { FlushEvent as FlushEventMessage } from "./gen/condense/v1/flush_event_pb.js";
import { FlushTrigger } from "./gen/condense/v1/flush_pb.js";
import { QueryToolCallRequestSchema } from "./gen/condense/v1/query_pb.js";
import type { ToolCallGroup } from "./gen/condense/v1/tool_call_pb.js";
import { MessageFormat } from "./gen/condense/v1/transcript_pb.js";
import { ContextUsageSchema } from "./gen/condense/v1/usage_pb.js";
import {
  PruneMessagesRequestSchema,
  View as ViewKind,
  type PruneMessagesRequest,
  type PruneMessagesResponse,
} from "./gen/condense/v1/view_pb.js";
import { applyEdits, EditNotUnderstood, readFullView } from "./native-view.js";
import type { CallOptions } from "./options.js";
import { fromInit, NotEncodable, toPlain, type Init, type Plain } from "./plain.js";
import { ArgumentsUnclear, readArguments } from "./recovery.js";
import type { Slice } from "./slices.js";
import { decodeVerbatim } from "./verbatim.js";
import type { Answer, View } from "./view.js";

/** The shape of a history, by name. */
export const FORMATS = {
  anthropic: MessageFormat.ANTHROPIC,
  gemini: MessageFormat.GEMINI,
  "openai-chat": MessageFormat.OPENAI_CHAT,
  "openai-responses": MessageFormat.OPENAI_RESPONSES,
  pi: MessageFormat.PI,
} as const;

/**
 * A configuration as JSON writes it, for files and variables: names of enums as texts, numbers as numbers. Throws
 * `ConfigInvalidError`.
 */
export function configFromJson(json: unknown): SessionConfig {
  try {
    return fromJson(SessionConfigSchema, json as JsonValue);
  } catch (error) {
    throw new ConfigInvalidError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** What a session is opened with. */
export interface SessionOptions {
  /** The shape of its messages. */
  readonly format: keyof typeof FORMATS;
  /** The configuration, if the session does not exist yet. */
  readonly config?: Init<typeof SessionConfigSchema>;
}

/** What a prune can be told, as `PruneMessagesRequest` names it. */
export interface PruneOptions extends CallOptions {
  readonly usage?: Init<typeof ContextUsageSchema> | undefined;
  readonly minSavingsChars?: number | undefined;
  readonly dryRun?: boolean;
}

/** What a flush can be told, as `FlushBatchesRequest` names it. */
export interface FlushOptions extends CallOptions {
  readonly trigger?: FlushTrigger;
  /** Follow a flush that is running already. Default true. */
  readonly attach?: boolean;
  readonly compact?: boolean;
  readonly dryRun?: boolean;
}

/** One history. Its first call creates it on the server. May be shared; calls may overlap. */
export class Session<T extends object> {
  private readonly delivery: Delivery<T>;
  private held: { readonly revision: string; readonly edits: readonly Edit[] } = { revision: "", edits: [] };

  constructor(
    private readonly connection: Connection,
    readonly sessionId: string,
    options: SessionOptions,
  ) {
    if (!sessionId.isWellFormed()) {
      throw new SessionIdInvalidError("the session id holds a lone surrogate: choose another one");
    }
    if (!Object.hasOwn(FORMATS, options.format)) {
      const known = Object.keys(FORMATS).join(", ");
      throw new RequestInvalidError(`there is no format ${JSON.stringify(options.format)}: choose one of ${known}`);
    }
    const init = options.config;
    const config = init && encoded(ConfigInvalidError, () => fromInit(SessionConfigSchema, init));
    this.delivery = new Delivery(connection, sessionId, FORMATS[options.format], config);
  }

  /**
   * What to send to the model instead of `messages`, the whole raw history. Only what is new in it is sent.
   *
   * Throws `MessageInvalidError` or `MessageTooLargeError` before anything is sent if a message cannot be stored.
   */
  async prune(messages: readonly T[], options: PruneOptions = {}): Promise<View<T>> {
    const draft = this.delivery.draft(messages);
    const { held } = this;
    const { dryRun = false, minSavingsChars, usage } = options;
    const reported = usage && encoded(RequestInvalidError, () => fromInit(ContextUsageSchema, usage));
    const response = await this.pruneCall(
      draft,
      { ...options, stored: !dryRun },
      {
        view: ViewKind.EDITS,
        knownRevision: held.revision,
        dryRun,
        ...(minSavingsChars !== undefined && { minSavingsChars: BigInt(minSavingsChars) }),
        ...(reported && { usage: reported }),
      },
    );
    const { edits: _, messages: __, nativeJson: ___, created: ____, ...facts } = toPlain({ ...response, edits: [] });
    if (dryRun) {
      return { ...facts, messages: [...draft.objects], edits: [] };
    }
    const edits = response.unchanged ? held.edits : response.edits;
    let shown: T[];
    try {
      shown = applyEdits(draft.objects, edits);
    } catch (error) {
      if (!(error instanceof EditNotUnderstood)) {
        throw error;
      }
      return { ...facts, messages: await this.fullView(draft, options), edits };
    }
    this.held = { revision: response.revision, edits };
    return { ...facts, messages: shown, edits };
  }

  /** The same view as the server writes it out: for edits of a kind that this client does not know. */
  private async fullView(draft: Draft<T>, options: CallOptions): Promise<T[]> {
    const response = await this.pruneCall(draft, { ...options, stored: true }, { view: ViewKind.FULL });
    return readFullView(draft.objects, response.nativeJson);
  }

  private pruneCall(
    draft: Draft<T>,
    options: CallOptions & { readonly stored: boolean },
    fields: Omit<Partial<PruneMessagesRequest>, "$typeName" | "$unknown">,
  ): Promise<PruneMessagesResponse> {
    const { sessionId } = this;
    const config = this.delivery.config && { config: this.delivery.config };
    return this.delivery.prune(draft, options, (delta) => {
      const request = create(PruneMessagesRequestSchema, { ...fields, ...config, sessionId, delta });
      return this.connection.call(sessionId, options, (attempt) =>
        this.connection.condense.pruneMessages(request, attempt),
      );
    });
  }

  /**
   * Condenses what is pending, `messages` (the whole raw history) included. Begins when it is read.
   *
   * It takes the time that a summarizer takes: there is no timeout unless one is given.
   */
  flush(messages?: readonly T[], options: FlushOptions = {}): FlushStream {
    return new FlushStream(this.flushEvents(messages && this.delivery.draft(messages), options));
  }

  private async *flushEvents(draft: Draft<T> | undefined, options: FlushOptions): AsyncGenerator<FlushEvent, void> {
    const { sessionId } = this;
    const { trigger = FlushTrigger.MANUAL, attach = true, compact = false, dryRun = false } = options;
    let delta = draft && this.delivery.findSmallDelta(draft);
    let refusals = 0;
    let stream: OpenStream<Telling> | undefined;
    while (!stream) {
      if (draft && !delta) {
        delta = await this.delivery.append(draft, options); // an upload finds out what the server has
      }
      const config = this.delivery.config && { config: this.delivery.config };
      const asked = { trigger, attach, compact, dryRun, jointEvents: true };
      const request = { sessionId, ...asked, ...config, ...(delta && { delta }) };
      try {
        stream = await this.connection.open(sessionId, options, (attempt) =>
          this.connection.condense.flushBatches(request, attempt),
        );
      } catch (error) {
        const isHealed = error instanceof TranscriptMismatchError || error instanceof DeltaTooLargeError;
        if (!draft || !isHealed || ++refusals === MAX_ATTEMPTS) {
          throw error;
        }
        delta = undefined;
      }
    }
    yield* eventsOf(stream);
  }

  /** Compresses every finished chain. Otherwise like `flush`. */
  compact(options: CallOptions & { readonly attach?: boolean } = {}): FlushStream {
    return new FlushStream(this.compactEvents(options));
  }

  private async *compactEvents({ attach = true, ...options }: CallOptions & { readonly attach?: boolean }) {
    const { sessionId } = this;
    const stream = await this.connection.open(sessionId, options, (attempt) =>
      this.connection.condense.compactChains({ sessionId, attach, jointEvents: true }, attempt),
    );
    yield* eventsOf(stream);
  }

  /** Originals by short ref, tool call id or occurrence key. Unknown refs are answered, not thrown. */
  async query(
    refs: readonly string[],
    options: CallOptions & { readonly slices?: readonly Slice[] } = {},
  ): Promise<Answer> {
    const { sessionId } = this;
    const init = { sessionId, refs: [...refs], slices: [...(options.slices ?? [])] };
    const request = encoded(RequestInvalidError, () => fromInit(QueryToolCallRequestSchema, init));
    const response = await this.connection.call(sessionId, options, (attempt) =>
      this.connection.condense.queryToolCall(request, attempt),
    );
    const { text, results } = toPlain(response);
    const found = results.flatMap((result) => result.blocks).flatMap(({ record }) => (record ? [record] : []));
    return { text, results, records: [...new Map(found.map((record) => [record.occurrenceKey, record])).values()] };
  }

  /**
   * The result for a model that has called the recovery tool, from its arguments, parsed or as text.
   *
   * Arguments that make no sense get an answer that says so. Throws only if the server cannot be asked.
   */
  async answerToolCall(args: unknown, options: CallOptions = {}): Promise<string> {
    try {
      const { refs, slices } = readArguments(args);
      return (await this.query(refs, { ...options, slices })).text;
    } catch (error) {
      if (error instanceof ArgumentsUnclear) {
        return error.message;
      }
      const isAnswer =
        error instanceof RequestInvalidError ||
        error instanceof SessionNotFoundError ||
        error instanceof NotImplementedByServerError;
      if (isAnswer) {
        return `Nothing could be read: ${error.message}`;
      }
      throw error;
    }
  }

  /**
   * One original, verbatim and of any size, piece by piece; after a broken stream it goes on where that ended.
   * Throws `ResultNotFoundError`.
   */
  async *read(ref: string, options: CallOptions = {}): AsyncGenerator<string, void> {
    const { sessionId } = this;
    requireWellFormed(ref);
    let offset = 0;
    let brokenAt = -1;
    for (;;) {
      let stream: OpenStream<{ found: boolean; offsetBytes: bigint; data: Uint8Array }> | undefined;
      try {
        const request = { sessionId, ref, offsetBytes: BigInt(offset) };
        stream = await this.connection.open(sessionId, options, (attempt) =>
          this.connection.condense.readToolResult(request, attempt),
        );
        for (let chunk = stream.first; chunk; chunk = await stream.next()) {
          if (!chunk.found) {
            throw new ResultNotFoundError(
              `${JSON.stringify(ref)} names no result of this session, or several: use a ref`,
            );
          }
          offset = Number(chunk.offsetBytes) + chunk.data.length;
          if (chunk.data.length > 0) {
            yield decodeVerbatim(chunk.data);
          }
        }
        return;
      } catch (error) {
        if (!isUnavailable(error) || brokenAt === offset) {
          throw error;
        }
        brokenAt = offset;
      } finally {
        stream?.close();
      }
    }
  }

  /** All tool calls, grouped by the summary that covers them: the data of a tree view. A group may come in parts. */
  async *toolCalls(options: CallOptions = {}): AsyncGenerator<Plain<ToolCallGroup>, void> {
    const { sessionId } = this;
    let pageToken = "";
    do {
      const request = { sessionId, pageToken };
      const page = await this.connection.call(sessionId, options, (attempt) =>
        this.connection.sessions.listToolCalls(request, attempt),
      );
      yield* page.groups.map((group) => toPlain(group));
      pageToken = page.nextPageToken;
    } while (pageToken);
  }

  /** How the session is doing. Only the entries are paged. */
  async diagnostics(
    options: CallOptions & { readonly pageSize?: number; readonly pageToken?: string } = {},
  ): Promise<Plain<GetDiagnosticsResponse>> {
    const { sessionId } = this;
    const { pageSize = 0, pageToken = "" } = options;
    const response = await this.connection.call(sessionId, options, (attempt) =>
      this.connection.condense.getDiagnostics({ sessionId, pageSize, pageToken }, attempt),
    );
    return toPlain(response);
  }

  /** Removes everything of the session from the server. Returns whether there was one. */
  async delete(options: CallOptions = {}): Promise<boolean> {
    const { sessionId } = this;
    const response = await this.connection.call(sessionId, options, (attempt) =>
      this.connection.sessions.deleteSession({ sessionId, allowMissing: true }, attempt),
    );
    this.delivery.forget();
    this.held = { revision: "", edits: [] };
    return response.deleted;
  }
}

/** A response of a flush or a compaction. */
interface Telling {
  readonly event?: FlushEventMessage | undefined;
  readonly furtherEvents: readonly FlushEventMessage[];
}

/** Events of kinds that this client does not know are left out. */
async function* eventsOf(stream: OpenStream<Telling>): AsyncGenerator<FlushEvent, void> {
  let last: FlushEvent["event"]["case"];
  try {
    for (let message = stream.first; message; message = await stream.next()) {
      for (const event of [message.event, ...message.furtherEvents]) {
        if (event?.event.case !== undefined) {
          last = event.event.case;
          yield toPlain(event);
        }
      }
    }
  } finally {
    stream.close();
  }
  if (last !== "completed") {
    throw new CondenseError("the stream ended before its last event: the outcome is in the diagnostics");
  }
}

function requireWellFormed(ref: string): void {
  if (!ref.isWellFormed()) {
    throw new RequestInvalidError("a ref holds a lone surrogate, which no ref has");
  }
}

function encoded<R>(kind: typeof RequestInvalidError, encode: () => R): R {
  try {
    return encode();
  } catch (error) {
    throw error instanceof NotEncodable ? new kind(error.message, { cause: error }) : error;
  }
}
