import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.condense.client.CondenseClient;
import io.condense.client.FlushStream;
import io.condense.client.Format;
import io.condense.client.RecoveryTool;
import io.condense.client.Session;
import io.condense.client.View;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An agent with one tool and a model that follows a script: what a real agent does around its requests to the model.
 *
 * <p>{@code CONDENSE_TARGET=127.0.0.1:50051 java -cp … examples/AgentLoop.java}
 */
public class AgentLoop {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Session<JsonNode> session;
  private final List<JsonNode> messages = new ArrayList<>();

  AgentLoop(Session<JsonNode> session) {
    this.session = session;
  }

  public static void main(String[] arguments) throws Exception {
    String target = System.getenv().getOrDefault("CONDENSE_TARGET", "127.0.0.1:50051");
    try (CondenseClient client = CondenseClient.connect(target)) {
      Session<JsonNode> session = client.session("example-of-java", Format.OPENAI_CHAT);
      session.delete();
      AgentLoop agent = new AgentLoop(session);
      for (String question :
          List.of("How did run 1 go?", "How did run 2 go?", "What exactly was line 3 of run 1?")) {
        System.out.println(question + "\n  " + agent.answer(question));
        try (FlushStream flush = session.flush(agent.messages)) {
          System.out.println("  [flush: " + flush.await().getOutcome() + "]");
        }
      }
      View<JsonNode> view = session.prune(agent.messages);
      System.out.println(view.statusLine());
      if (!view.pruned()) {
        throw new IllegalStateException("old results should be stubs now");
      }
    }
  }

  /** Lets the model work until it answers without calling a tool. */
  String answer(String question) throws Exception {
    messages.add(message("user", question));
    while (true) {
      View<JsonNode> view = session.prune(messages);
      ObjectNode request = MAPPER.createObjectNode().put("model", "scripted");
      request.putArray("messages").addAll(view.messages());
      request.putArray("tools").add(runTool()).add(RecoveryTool.definition(Format.OPENAI_CHAT));
      JsonNode reply = askModel(request);
      messages.add(reply);
      if (!reply.has("tool_calls")) {
        return reply.path("content").textValue();
      }
      for (JsonNode call : reply.path("tool_calls")) {
        String arguments = call.path("function").path("arguments").textValue();
        boolean recovers = call.path("function").path("name").textValue().equals(RecoveryTool.NAME);
        String result = recovers ? session.answerToolCall(arguments) : run(arguments);
        messages.add(message("tool", result).put("tool_call_id", call.path("id").textValue()));
      }
    }
  }

  private static ObjectNode message(String role, String content) {
    return MAPPER.createObjectNode().put("role", role).put("content", content);
  }

  private static JsonNode runTool() {
    ObjectNode tool = MAPPER.createObjectNode().put("type", "function");
    tool.putObject("function").put("name", "run").putObject("parameters").put("type", "object");
    return tool;
  }

  private static String run(String arguments) {
    return IntStream.rangeClosed(1, 80)
        .mapToObj(line -> arguments + ": line " + line + " is fine\n")
        .collect(Collectors.joining());
  }

  /** Stands for the model. It sees nothing but the request, and asks for the original where it finds a stub. */
  private static JsonNode askModel(JsonNode request) {
    JsonNode sent = request.path("messages");
    JsonNode last = sent.get(sent.size() - 1);
    if (last.path("role").textValue().equals("tool")) {
      String line =
          last.path("content").textValue().lines().filter(it -> it.contains("line 3 ")).findFirst().orElseThrow();
      return message("assistant", line);
    }
    boolean wantsOriginal = false;
    for (JsonNode element : sent) {
      wantsOriginal |= element.path("content").asText().startsWith("What exactly");
    }
    String wanted = "{\"toolCallIds\": [\"t1\"], \"slices\": [{\"ref\": \"t1\", \"lines\": [3, 3]}]}";
    return wantsOriginal
        ? call(sent.size(), RecoveryTool.NAME, wanted)
        : call(sent.size(), "run", "{\"number\": " + sent.size() + "}");
  }

  private static JsonNode call(int number, String name, String arguments) {
    ObjectNode reply = MAPPER.createObjectNode().put("role", "assistant").putNull("content");
    ObjectNode call = reply.putArray("tool_calls").addObject().put("id", "call-" + number).put("type", "function");
    call.putObject("function").put("name", name).put("arguments", arguments);
    return reply;
  }
}
