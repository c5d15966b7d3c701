package io.condense.client;

import com.fasterxml.jackson.databind.JsonNode;
import io.condense.v1.CompactChainsRequest;
import io.condense.v1.CondenseServiceGrpc;
import io.condense.v1.DeleteSessionRequest;
import io.condense.v1.Edit;
import io.condense.v1.FlushBatchesRequest;
import io.condense.v1.GetDiagnosticsRequest;
import io.condense.v1.GetDiagnosticsResponse;
import io.condense.v1.PruneMessagesRequest;
import io.condense.v1.PruneMessagesResponse;
import io.condense.v1.QueryToolCallRequest;
import io.condense.v1.QueryToolCallResponse;
import io.condense.v1.SessionConfig;
import io.condense.v1.SessionServiceGrpc;
import io.condense.v1.Slice;
import io.condense.v1.TranscriptDelta;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One history of the caller, mirrored by the server. May be shared by threads, and calls may
 * overlap.
 *
 * <p>It remembers what the server has of the history and the edits it was last told. That is only
 * ever a shortcut: if the server disagrees, or an answer is lost, more is sent again.
 *
 * @param <T> what an element of the history is
 */
public final class Session<T> {
  private final String id;
  private final Json<T> json;
  private final SessionConfig config;
  private final Transport transport;
  private final Delivery<T> delivery;
  private volatile HeldEdits held = HeldEdits.NONE;

  /** The edits of the last view and their revision. */
  private record HeldEdits(String revision, List<Edit> edits) {
    static final HeldEdits NONE = new HeldEdits("", List.of());
  }

  Session(String id, Format format, Json<T> json, SessionConfig config, Transport transport) {
    if (!Utf8.isWellFormed(id)) {
      throw Errors.local(
          "SESSION_ID_INVALID",
          "the session id holds half of a character: choose another one",
          Map.of());
    }
    this.id = id;
    this.json = json;
    this.config = config;
    this.transport = transport.forSession(id);
    this.delivery = new Delivery<>(id, format, json, config, this.transport);
  }

  /** The id of the session. */
  public String id() {
    return id;
  }

  /**
   * What to send to the model instead of {@code messages}, the whole raw history. Only what is new
   * in it is sent.
   *
   * @throws CondenseException.MessageInvalid before anything is sent, if a message is no JSON
   *     object
   * @throws CondenseException.MessageTooLarge before anything is sent, if a message fits into no
   *     request
   */
  public View<T> prune(List<? extends T> messages) {
    return prune(messages, PruneOptions.DEFAULT);
  }

  /** See {@link #prune(List)}. */
  public View<T> prune(List<? extends T> messages, PruneOptions options) {
    HeldEdits known = held;
    Draft<T> draft = delivery.draft(messages);
    PruneMessagesResponse response =
        delivery.prune(
            draft, !options.dryRun(), delta -> pruneRequest(delta, options, known.revision()));
    if (options.dryRun()) {
      return new View<>(draft.elements(), List.of(), response);
    }
    List<Edit> edits = response.getUnchanged() ? known.edits() : response.getEditsList();
    Optional<List<T>> shown = Edits.apply(json, draft.elements(), edits);
    if (shown.isEmpty()) {
      return new View<>(fullView(draft), edits, response);
    }
    held = new HeldEdits(response.getRevision(), edits);
    return new View<>(shown.get(), edits, response);
  }

  private PruneMessagesRequest pruneRequest(
      TranscriptDelta delta, PruneOptions options, String knownRevision) {
    PruneMessagesRequest.Builder request =
        PruneMessagesRequest.newBuilder()
            .setSessionId(id)
            .setDelta(delta)
            .setView(io.condense.v1.View.VIEW_EDITS)
            .setKnownRevision(knownRevision)
            .setDryRun(options.dryRun());
    if (options.minSavingsChars() != null) {
      request.setMinSavingsChars(options.minSavingsChars());
    }
    if (options.usage() != null) {
      request.setUsage(options.usage());
    }
    if (config != null) {
      request.setConfig(config);
    }
    return request.build();
  }

  /**
   * The same view as the server writes it out: for edits of a kind that this client does not know.
   */
  private List<T> fullView(Draft<T> draft) {
    PruneMessagesResponse response =
        delivery.prune(
            draft,
            true,
            delta ->
                PruneMessagesRequest.newBuilder()
                    .setSessionId(id)
                    .setDelta(delta)
                    .setView(io.condense.v1.View.VIEW_FULL)
                    .build());
    return Edits.readFullView(json, draft, response.getNativeJson());
  }

  /**
   * Condenses what is pending, {@code messages} (the whole raw history) included. The stream tells
   * how it goes.
   */
  public FlushStream flush(List<? extends T> messages) {
    return flush(messages, FlushOptions.DEFAULT);
  }

  /** Condenses what the server has, or follows the flush that it has started. */
  public FlushStream flush() {
    return flush(null, FlushOptions.DEFAULT);
  }

  /** See {@link #flush(List)}. Without messages (null): what the server has. */
  public FlushStream flush(List<? extends T> messages, FlushOptions options) {
    if (messages == null) {
      return openFlush(null, options);
    }
    Draft<T> draft = delivery.draft(messages);
    Optional<TranscriptDelta> delta = delivery.findSmallDelta(draft);
    for (int refusals = 1; ; refusals++) {
      try {
        return openFlush(delta.orElseGet(() -> delivery.append(draft)), options);
      } catch (CondenseException.TranscriptMismatch | CondenseException.DeltaTooLarge error) {
        if (refusals == Delivery.MAX_ATTEMPTS) {
          throw error;
        }
        delta = Optional.empty(); // an upload finds out what the server has
      }
    }
  }

  private FlushStream openFlush(TranscriptDelta delta, FlushOptions options) {
    FlushBatchesRequest.Builder request =
        FlushBatchesRequest.newBuilder()
            .setSessionId(id)
            .setTrigger(options.trigger())
            .setDryRun(options.dryRun())
            .setCompact(options.compact())
            .setAttach(options.attach())
            .setJointEvents(true);
    if (delta != null) {
      request.setDelta(delta);
    }
    if (config != null) {
      request.setConfig(config);
    }
    return FlushStream.ofFlush(
        transport.open(
            CondenseServiceGrpc.getFlushBatchesMethod(),
            request.build(),
            Optional.ofNullable(options.timeout())));
  }

  /** Compresses every finished chain. The stream tells how it goes. */
  public FlushStream compact() {
    return compact(FlushOptions.DEFAULT);
  }

  /** The same; of the options {@code attach} and {@code timeout} are looked at. */
  public FlushStream compact(FlushOptions options) {
    CompactChainsRequest request =
        CompactChainsRequest.newBuilder()
            .setSessionId(id)
            .setAttach(options.attach())
            .setJointEvents(true)
            .build();
    return FlushStream.ofCompaction(
        transport.open(
            CondenseServiceGrpc.getCompactChainsMethod(),
            request,
            Optional.ofNullable(options.timeout())));
  }

  /**
   * Originals by short ref, tool call id or occurrence key; parts by {@link Slices}. Unknown refs
   * are answered.
   */
  public Answer query(List<String> refs, Slice... slices) {
    return query(refs, List.of(slices));
  }

  /** See {@link #query(List, Slice...)}. */
  public Answer query(List<String> refs, List<Slice> slices) {
    refs.forEach(Session::requireWellFormed);
    for (Slice slice : slices) {
      requireWellFormed(slice.getRef());
      requireWellFormed(slice.getPattern().getPattern());
    }
    QueryToolCallRequest request =
        QueryToolCallRequest.newBuilder()
            .setSessionId(id)
            .addAllRefs(refs)
            .addAllSlices(slices)
            .build();
    QueryToolCallResponse response =
        transport.call(CondenseServiceGrpc.getQueryToolCallMethod(), request);
    return new Answer(response.getText(), response.getResultsList());
  }

  /**
   * The result for a model that has called the recovery tool, from its arguments as the model's
   * text.
   *
   * <p>Arguments that make no sense get an answer that says so. Throws only if the server cannot be
   * asked.
   */
  public String answerToolCall(String arguments) {
    try {
      return answer(arguments == null ? ToolQuery.read(null) : ToolQuery.parse(arguments));
    } catch (ToolQuery.Unclear unclear) {
      return unclear.getMessage();
    }
  }

  /** The same from parsed arguments. */
  public String answerToolCall(JsonNode arguments) {
    if (arguments != null && arguments.isTextual()) {
      return answerToolCall(arguments.textValue());
    }
    try {
      return answer(ToolQuery.read(arguments));
    } catch (ToolQuery.Unclear unclear) {
      return unclear.getMessage();
    }
  }

  private String answer(ToolQuery wanted) {
    try {
      return query(wanted.refs(), wanted.slices()).text();
    } catch (CondenseException.RequestInvalid
        | CondenseException.SessionNotFound
        | CondenseException.NotImplemented error) {
      return "Nothing could be read: " + error.getMessage();
    }
  }

  /**
   * One original, verbatim and of any size, piece by piece. Reading fails with ResultNotFound if
   * there is none.
   */
  public ResultReader readResult(String ref) {
    requireWellFormed(ref);
    return new ResultReader(transport, id, ref);
  }

  /** What half of a character would become on its way is another text, which nobody asked for. */
  private static void requireWellFormed(String text) {
    if (!Utf8.isWellFormed(text)) {
      throw Errors.local(
          "REQUEST_INVALID",
          "a text of the request holds half of a character, which nothing that is asked for can",
          Map.of());
    }
  }

  /** How the session is doing. */
  public GetDiagnosticsResponse diagnostics() {
    return diagnostics(0, "");
  }

  /**
   * The same with a page of the entries behind it; size 0 and an empty token are the first page.
   */
  public GetDiagnosticsResponse diagnostics(int pageSize, String pageToken) {
    requireWellFormed(pageToken);
    GetDiagnosticsRequest request =
        GetDiagnosticsRequest.newBuilder()
            .setSessionId(id)
            .setPageSize(pageSize)
            .setPageToken(pageToken)
            .build();
    return transport.call(CondenseServiceGrpc.getGetDiagnosticsMethod(), request);
  }

  /** Removes everything of the session from the server. Returns whether there was one. */
  public boolean delete() {
    DeleteSessionRequest request =
        DeleteSessionRequest.newBuilder().setSessionId(id).setAllowMissing(true).build();
    boolean deleted =
        transport.call(SessionServiceGrpc.getDeleteSessionMethod(), request).getDeleted();
    delivery.forget();
    held = HeldEdits.NONE;
    return deleted;
  }
}
