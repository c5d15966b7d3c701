package io.condense.conformance;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.condense.client.Answer;
import io.condense.client.ClientOptions;
import io.condense.client.CondenseException;
import io.condense.client.FlushStream;
import io.condense.client.View;
import io.condense.v1.FlushCompleted;
import io.condense.v1.FlushEvent;
import io.condense.v1.GetCapabilitiesResponse;
import io.condense.v1.GetDiagnosticsResponse;
import io.condense.v1.QueryBlock;
import io.condense.v1.QueryResult;
import io.condense.v1.Violation;
import java.time.Duration;
import java.util.List;

/** What the runner says about what it got. */
final class Reports {
  private static final ObjectMapper MAPPER = Runner.MAPPER;

  private Reports() {}

  /** A report as a line: texts may hold what UTF-8 cannot. */
  static String ascii(JsonNode report) throws java.io.IOException {
    return MAPPER.writer().with(JsonWriteFeature.ESCAPE_NON_ASCII).writeValueAsString(report);
  }

  static JsonNode options(ClientOptions options) {
    return MAPPER
        .createObjectNode()
        .put("maxMessageBytes", options.maxMessageBytes())
        .put("unaryDeltaBytes", options.unaryDeltaBytes())
        .put("chunkBytes", options.chunkBytes())
        .put("keepaliveSeconds", options.keepalive().toSeconds())
        .put("callTimeoutSeconds", options.callTimeout().map(Duration::toSeconds).orElse(null))
        .put("maxAttempts", options.retry().maxAttempts());
  }

  static JsonNode capabilities(GetCapabilitiesResponse told) {
    ObjectNode report = MAPPER.createObjectNode().put("version", told.getVersion());
    ArrayNode formats = report.putArray("formats");
    told.getFormatsList().forEach(it -> formats.add(it.name()));
    report.put("maxMessageBytes", told.getLimits().getMaxMessageBytes());
    report
        .putObject("recoveryTool")
        .put("name", told.getRecoveryTool().getName())
        .put("description", told.getRecoveryTool().getDescription())
        .put("parametersJson", told.getRecoveryTool().getParametersJson());
    return report;
  }

  static JsonNode view(List<JsonNode> list, View<JsonNode> view) {
    ObjectNode report = MAPPER.createObjectNode();
    ArrayNode shown = report.putArray("view");
    for (JsonNode element : view.messages()) {
      int place = -1;
      for (int index = 0; index < list.size() && place < 0; index++) {
        place = list.get(index) == element ? index : -1;
      }
      shown.add(place >= 0 ? "=" + place : element.toString());
    }
    report.put("edits", view.edits().size());
    report.put("pruned", view.pruned());
    report.put("unchanged", view.unchanged());
    report.put("revision", view.revision());
    report.put("statusLine", view.statusLine());
    report
        .putObject("reclaim")
        .put("beforeChars", view.reclaim().getBeforeChars())
        .put("afterChars", view.reclaim().getAfterChars());
    report
        .putObject("cache")
        .put(
            "firstChangedIndex",
            view.cache().hasFirstChangedIndex() ? view.cache().getFirstChangedIndex() : null)
        .put("breaksCache", view.cache().getBreaksCache());
    report.putObject("advice").put("pendingBatches", view.advice().getPendingBatches());
    ArrayNode violations = report.putArray("violations");
    for (Violation it : view.violations()) {
      violations
          .addObject()
          .put("kind", it.getKind().name())
          .put("messageIndex", it.getMessageIndex());
    }
    return report;
  }

  /** Reads events up to one of the kind {@code until}, or to the end. */
  static JsonNode events(FlushStream stream, String until) {
    ObjectNode report = MAPPER.createObjectNode();
    ArrayNode events = report.putArray("events");
    ArrayNode batches = report.putArray("batches");
    report.putNull("completed");
    while (stream.hasNext()) {
      FlushEvent event = stream.next();
      String kind = camel(event.getEventCase().name());
      events.add(kind);
      if (event.hasBatchFinished()) {
        String outcome = event.getBatchFinished().getOutcome().name();
        ArrayNode refs = batches.addObject().put("outcome", outcome).putArray("refs");
        event.getBatchFinished().getRefsList().forEach(refs::add);
      }
      if (event.hasCompleted()) {
        FlushCompleted completed = event.getCompleted();
        report
            .putObject("completed")
            .put("outcome", completed.getOutcome().name())
            .put("summarizedBatches", completed.getCounts().getSummarizedBatches())
            .put("blocks", completed.getBlockIdsCount());
      }
      if (kind.equals(until)) {
        break;
      }
    }
    return report;
  }

  static JsonNode answer(Answer answer) {
    ObjectNode report = MAPPER.createObjectNode().put("text", answer.text());
    ArrayNode results = report.putArray("results");
    for (QueryResult result : answer.results()) {
      ObjectNode told =
          results
              .addObject()
              .put("requested", result.getRequested())
              .put("found", result.getFound());
      ArrayNode blocks = told.putArray("blocks");
      for (QueryBlock block : result.getBlocksList()) {
        blocks
            .addObject()
            .put("label", block.getLabel())
            .put("text", block.getText())
            .put("truncated", block.getTruncated())
            .put("totalLines", block.getTotalLines())
            .put("ref", block.getRecord().getRef())
            .put("argumentsJson", block.getRecord().getArgumentsJson());
      }
    }
    return report;
  }

  static JsonNode diagnostics(GetDiagnosticsResponse told) {
    ObjectNode report =
        MAPPER
            .createObjectNode()
            .put("statusLine", told.getStatusLine())
            .put("pendingBatches", told.getAdvice().getPendingBatches())
            .put("running", told.getAdvice().getRunning());
    ArrayNode outcomes = report.putArray("lastOutcomes");
    told.getLastFlushesList().forEach(it -> outcomes.add(it.getOutcome().name()));
    return report;
  }

  static JsonNode error(CondenseException error) {
    ObjectNode report =
        MAPPER
            .createObjectNode()
            .put("type", error.getClass().getSimpleName())
            .put("reason", error.reason())
            .put(
                "retryAfterSeconds",
                error.retryAfter().map(it -> it.toMillis() / 1000.0).orElse(null))
            .put("message", error.getMessage());
    ObjectNode metadata = report.putObject("metadata");
    error.metadata().forEach(metadata::put);
    ArrayNode violations = report.putArray("violations");
    error
        .violations()
        .forEach(
            it ->
                violations
                    .addObject()
                    .put("field", it.field())
                    .put("description", it.description()));
    return report;
  }

  private static String camel(String name) {
    StringBuilder camel = new StringBuilder();
    for (String word : name.split("_")) {
      String lower = word.toLowerCase(java.util.Locale.ROOT);
      camel.append(
          camel.isEmpty() ? lower : Character.toUpperCase(lower.charAt(0)) + lower.substring(1));
    }
    return camel.toString();
  }
}
