package io.condense.client;

import io.condense.client.SentHistory.Checkpoint;
import io.condense.v1.AppendMessagesResponse;
import io.condense.v1.CondenseServiceGrpc;
import io.condense.v1.PruneMessagesRequest;
import io.condense.v1.PruneMessagesResponse;
import io.condense.v1.SessionConfig;
import io.condense.v1.TranscriptDelta;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Brings a caller's list to the server, whatever has happened before: lost answers, rewinds, a
 * server that forgot.
 *
 * <p>A delta starts at the latest checkpoint that the list still agrees with. If the server refuses
 * that base, the next try starts at an earlier one, and after a few tries at 0, which the server
 * never refuses. Deltas that are too big for one request are uploaded in chunks first; then nothing
 * is left to send with the request itself.
 */
final class Delivery<T> {
  static final int MAX_ATTEMPTS = 5;

  private final String sessionId;
  private final Format format;
  private final Json<T> json;
  private final SessionConfig config;
  private final Transport transport;
  private volatile SentHistory sent = SentHistory.NOTHING;

  Delivery(
      String sessionId, Format format, Json<T> json, SessionConfig config, Transport transport) {
    this.sessionId = sessionId;
    this.format = format;
    this.json = json;
    this.config = config;
    this.transport = transport;
  }

  /** A list to deliver, read and checked. */
  Draft<T> draft(List<? extends T> elements) {
    List<T> copy = java.util.Collections.unmodifiableList(new java.util.ArrayList<>(elements));
    return new Draft<>(copy, format, json, sent, transport.options.maxMessageBytes());
  }

  /** Assumes from now on that the server has nothing. */
  void forget() {
    sent = SentHistory.NOTHING;
  }

  /**
   * Delivers a draft with a PruneMessages. Not {@code stored}: a dry run, which changes nothing
   * anywhere.
   */
  PruneMessagesResponse prune(
      Draft<T> draft, boolean stored, Function<TranscriptDelta, PruneMessagesRequest> requestOf) {
    Checkpoint base = draft.base();
    boolean uploads = false;
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        uploads |= stored && draft.deltaBytes(base) > transport.options.unaryDeltaBytes();
        if (uploads) {
          base = upload(draft, base);
          uploads = false;
        }
        PruneMessagesResponse response =
            transport.call(
                CondenseServiceGrpc.getPruneMessagesMethod(), requestOf.apply(draft.delta(base)));
        if (stored) {
          accept(draft, base, response.getTranscriptLength(), response.getTranscriptEtag());
        }
        return response;
      } catch (CondenseException.DeltaTooLarge error) {
        if (uploads || !stored) {
          throw error;
        }
        uploads = true;
      } catch (CondenseException.TranscriptMismatch error) {
        base = stepBack(draft, base, error);
      }
    }
    throw disagreement(draft);
  }

  /** What is new in a draft, if that fits into one request. */
  Optional<TranscriptDelta> findSmallDelta(Draft<T> draft) {
    Checkpoint base = draft.base();
    boolean isSmall = draft.deltaBytes(base) <= transport.options.unaryDeltaBytes();
    return isSmall ? Optional.of(draft.delta(base)) : Optional.empty();
  }

  /** Delivers a draft by an upload. Returns the delta that says: exactly this. */
  TranscriptDelta append(Draft<T> draft) {
    Checkpoint base = draft.base();
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        return draft.delta(upload(draft, base));
      } catch (CondenseException.TranscriptMismatch error) {
        base = stepBack(draft, base, error);
      }
    }
    throw disagreement(draft);
  }

  private Checkpoint upload(Draft<T> draft, Checkpoint base) {
    AppendMessagesResponse response =
        transport.upload(
            CondenseServiceGrpc.getAppendMessagesMethod(),
            draft.chunks(base, sessionId, config, transport.options.chunkBytes()));
    accept(draft, base, response.getTranscriptLength(), response.getTranscriptEtag());
    return draft.base();
  }

  private void accept(Draft<T> draft, Checkpoint base, long length, String etag) {
    if (length != draft.length()) {
      throw disagreement(draft);
    }
    draft.accept(base, etag);
    sent = draft.sent;
  }

  /** The base to try after a refusal. At 0 there is none. */
  private Checkpoint stepBack(
      Draft<T> draft, Checkpoint refused, CondenseException.TranscriptMismatch error) {
    if (refused.equals(Checkpoint.START)) {
      throw error;
    }
    return draft.sent.baseAfterMismatch(refused, error.metadata());
  }

  private static CondenseException disagreement(Draft<?> draft) {
    return Errors.local(
        ("client and server do not agree about a history of %d messages: check that client and server are of the "
                + "same release, and that one client writes to the session")
            .formatted(draft.length()));
  }
}
