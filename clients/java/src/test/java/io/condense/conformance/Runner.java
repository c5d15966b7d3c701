package io.condense.conformance;

import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.condense.client.Answer;
import io.condense.client.ClientOptions;
import io.condense.client.CondenseClient;
import io.condense.client.CondenseException;
import io.condense.client.FlushOptions;
import io.condense.client.FlushStream;
import io.condense.client.Format;
import io.condense.client.PruneOptions;
import io.condense.client.RecoveryTool;
import io.condense.client.Session;
import io.condense.client.Slices;
import io.condense.v1.ContextUsage;
import io.condense.v1.PruneOn;
import io.condense.v1.SessionConfig;
import io.condense.v1.Slice;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Carries out the orders of clients/conformance with this client: one line in, one line out. */
public final class Runner {
  static final ObjectMapper MAPPER = new ObjectMapper();

  static {
    MAPPER
        .getFactory()
        .setStreamReadConstraints(
            StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build());
  }

  private String target;
  private final Map<String, CondenseClient> clients = new HashMap<>();
  private final Map<String, Session<JsonNode>> sessions = new HashMap<>();
  private final Map<String, List<JsonNode>> lists = new HashMap<>();
  private final Map<String, FlushStream> flushes = new HashMap<>();

  private Runner(String target) {
    this.target = target;
  }

  /** Reads orders until there are no more. */
  public static void main(String[] arguments) throws Exception {
    PrintStream out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Runner runner = new Runner(arguments[0]);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      ObjectNode report = MAPPER.createObjectNode();
      try {
        report.set("result", runner.carryOut(MAPPER.readTree(line)));
      } catch (CondenseException error) {
        report.set("error", Reports.error(error));
      }
      out.println(Reports.ascii(report));
      out.flush();
    }
    runner.reset("");
  }

  private JsonNode carryOut(JsonNode order) throws Exception {
    String name = order.path("session").asText();
    switch (order.path("op").asText()) {
      case "hello":
        return MAPPER
            .createObjectNode()
            .put("language", "java")
            .put("numbers", "ieee754")
            .put("loneSurrogates", "kept")
            .put("stringsHoldSurrogates", true);
      case "reset":
        return reset(order.path("target").asText());
      case "client":
        return makeClient(order.path("client").asText(), order.path("options"));
      case "options":
        return Reports.options(client(order).options());
      case "capabilities":
        return Reports.capabilities(client(order).capabilities());
      case "session":
        SessionConfig config = config(order.path("config"));
        sessions.put(name, client(order).session(order.path("id").asText(), format(order), config));
        lists.put(name, new ArrayList<>());
        return MAPPER.createObjectNode();
      case "append":
        for (JsonNode element : order.path("elements")) {
          lists.get(name).add(MAPPER.readTree(element.textValue()));
        }
        return MAPPER.createObjectNode();
      case "cut":
        List<JsonNode> list = lists.get(name);
        list.subList(order.path("length").intValue(), list.size()).clear();
        return MAPPER.createObjectNode();
      case "prune":
        return Reports.view(
            lists.get(name), sessions.get(name).prune(lists.get(name), pruneOptions(order)));
      case "flush":
        List<JsonNode> given = order.path("list").asBoolean(true) ? lists.get(name) : null;
        return opened(order, sessions.get(name).flush(given, flushOptions(order)));
      case "compact":
        return opened(order, sessions.get(name).compact(flushOptions(order)));
      case "next":
        return Reports.events(
            flushes.get(order.path("flush").asText()), order.path("until").asText());
      case "cancel":
        flushes.remove(order.path("flush").asText()).close();
        return MAPPER.createObjectNode();
      case "close":
        client(order).close();
        return MAPPER.createObjectNode();
      default:
        return readBack(order, sessions.get(name));
    }
  }

  private JsonNode readBack(JsonNode order, Session<JsonNode> session) throws Exception {
    switch (order.path("op").asText()) {
      case "query":
        List<String> refs = new ArrayList<>();
        order.path("refs").forEach(it -> refs.add(it.textValue()));
        List<Slice> slices = new ArrayList<>();
        order.path("slices").forEach(it -> slices.add(slice(it)));
        Answer answer = session.query(refs, slices);
        return Reports.answer(answer);
      case "read":
        String text = session.readResult(order.path("ref").asText()).readAll();
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytesOf(text));
        return MAPPER
            .createObjectNode()
            .put("chars", text.codePointCount(0, text.length()))
            .put("sha256", HexFormat.of().formatHex(digest));
      case "recoveryTool":
        String provider = order.path("provider").asText();
        Format format = format(provider.equals("openai") ? "openai-chat" : provider);
        return MAPPER.createObjectNode().put("json", RecoveryTool.definition(format).toString());
      case "answer":
        return MAPPER
            .createObjectNode()
            .put("text", session.answerToolCall(order.path("arguments").textValue()));
      case "diagnostics":
        return Reports.diagnostics(session.diagnostics());
      case "delete":
        return MAPPER.createObjectNode().put("deleted", session.delete());
      default:
        throw new IOException("no order " + order.path("op"));
    }
  }

  private JsonNode reset(String address) {
    flushes.values().forEach(FlushStream::close);
    clients.values().forEach(CondenseClient::close);
    flushes.clear();
    clients.clear();
    sessions.clear();
    lists.clear();
    target = address;
    return MAPPER.createObjectNode();
  }

  private JsonNode makeClient(String name, JsonNode given) {
    ClientOptions options = ClientOptions.DEFAULT;
    if (given.has("maxAttempts")) {
      options =
          options.withRetry(options.retry().withMaxAttempts(given.path("maxAttempts").intValue()));
    }
    if (given.has("callTimeoutSeconds")) {
      Duration timeout =
          Duration.ofMillis((long) (given.path("callTimeoutSeconds").doubleValue() * 1000));
      options = options.withTimeouts(timeout, options.uploadTimeout().orElse(null));
    }
    String address = given.path("target").asText(target);
    clients.put(
        name,
        CondenseClient.builder(address)
            .options(options)
            .token(given.path("token").asText(null))
            .build());
    return MAPPER.createObjectNode();
  }

  private CondenseClient client(JsonNode order) {
    String name = order.path("client").asText();
    if (!clients.containsKey(name)) {
      makeClient(name, MAPPER.createObjectNode());
    }
    return clients.get(name);
  }

  private JsonNode opened(JsonNode order, FlushStream stream) {
    flushes.put(order.path("flush").asText(), stream);
    return Reports.events(stream, order.path("until").asText());
  }

  private static PruneOptions pruneOptions(JsonNode order) {
    ContextUsage usage = null;
    if (order.has("usage")) {
      usage =
          ContextUsage.newBuilder()
              .setTokens(order.path("usage").path("tokens").longValue())
              .setContextWindow(order.path("usage").path("contextWindow").longValue())
              .build();
    }
    Long savings = order.has("minSavingsChars") ? order.path("minSavingsChars").longValue() : null;
    return new PruneOptions(usage, savings, order.path("dryRun").asBoolean());
  }

  private static FlushOptions flushOptions(JsonNode order) {
    return FlushOptions.DEFAULT.withAttach(order.path("attach").asBoolean(true));
  }

  private static SessionConfig config(JsonNode given) {
    if (given.isMissingNode()) {
      return null;
    }
    SessionConfig.Builder config = SessionConfig.newBuilder();
    if (given.has("pruneOn")) {
      config.setPruneOn(PruneOn.valueOf(given.path("pruneOn").textValue()));
    }
    if (given.has("showPruneStatusLine")) {
      config.setShowPruneStatusLine(given.path("showPruneStatusLine").booleanValue());
    }
    if (given.has("minBatchChars")) {
      config.setMinBatchChars(given.path("minBatchChars").longValue());
    }
    if (given.has("summarizerModel")) {
      config.setSummarizerModel(given.path("summarizerModel").textValue());
    }
    return config.build();
  }

  private static Format format(JsonNode order) {
    return format(order.path("format").asText());
  }

  private static Format format(String name) {
    return Format.valueOf(name.toUpperCase(java.util.Locale.ROOT).replace('-', '_'));
  }

  /** As UTF-8, with half of a character as the bytes that it would have. */
  private static byte[] bytesOf(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
    text.codePoints()
        .forEach(
            code -> {
              if (code < Character.MIN_SURROGATE || code > Character.MAX_SURROGATE) {
                bytes.writeBytes(Character.toString(code).getBytes(StandardCharsets.UTF_8));
              } else {
                bytes.write(0xe0 | code >> 12);
                bytes.write(0x80 | code >> 6 & 0x3f);
                bytes.write(0x80 | code & 0x3f);
              }
            });
    return bytes.toByteArray();
  }

  private static Slice slice(JsonNode wanted) {
    String ref = wanted.path("ref").asText();
    int around = wanted.path("contextLines").intValue();
    Slice slice;
    if (wanted.has("lines")) {
      JsonNode last = wanted.path("lines").path(1);
      long first = wanted.path("lines").path(0).longValue();
      slice =
          last.isNumber()
              ? Slices.lines(ref, first, last.longValue())
              : Slices.linesFrom(ref, first);
    } else if (wanted.has("chars")) {
      JsonNode last = wanted.path("chars").path(1);
      long first = wanted.path("chars").path(0).longValue();
      slice =
          last.isNumber()
              ? Slices.chars(ref, first, last.longValue())
              : Slices.charsFrom(ref, first);
    } else if (wanted.path("regex").asBoolean()) {
      slice = Slices.matching(ref, wanted.path("pattern").textValue(), around);
    } else {
      slice = Slices.containing(ref, wanted.path("pattern").textValue(), around);
    }
    return wanted.has("maxChars")
        ? slice.toBuilder().setMaxChars(wanted.path("maxChars").longValue()).build()
        : slice;
  }
}
