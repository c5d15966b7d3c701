package io.condense.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The tool by which a model gets originals back: its definition for each provider.
 *
 * <p>Register the definition from the first request of a session on: a list of tools that changes
 * later breaks the provider's prompt cache. For the same reason it never changes within a version.
 */
public final class RecoveryTool {
  /** Its name. Stubs name it, so it must not be called otherwise. */
  public static final String NAME = "context_tree_query";

  private static final String DESCRIPTION =
      "Returns the original, complete output of earlier tool calls that now appear only as a summary or a stub. "
          + "Pass the refs exactly as the stub or summary shows them, for example t12. For a long output ask for a "
          + "part by lines, chars or a pattern.";

  private static final String PARAMETERS =
      """
      {
        "type": "object",
        "properties": {
          "toolCallIds": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Refs of tool calls, such as t12, or tool call ids."
          },
          "slices": {
            "type": "array",
            "description": "Optional: parts instead of whole outputs. Each names a ref of toolCallIds.",
            "items": {
              "type": "object",
              "properties": {
                "ref": {"type": "string", "description": "A member of toolCallIds."},
                "lines": {
                  "type": "array",
                  "items": {"type": "integer"},
                  "description": "First and last line, from 1, for example [2001, 2400]."
                },
                "chars": {
                  "type": "array",
                  "items": {"type": "integer"},
                  "description": "First and last character, from 1."
                },
                "pattern": {"type": "string", "description": "Only the lines that contain this text."},
                "regex": {"type": "boolean", "description": "Read pattern as an RE2 expression."},
                "contextLines": {"type": "integer", "description": "Lines around each match."}
              },
              "required": ["ref"]
            }
          }
        },
        "required": ["toolCallIds"]
      }
      """;

  private RecoveryTool() {}

  /**
   * The definition as a member of the provider's list of tools; for Gemini, of its
   * functionDeclarations.
   */
  public static ObjectNode definition(Format format) {
    ObjectNode tool = JsonNodeFactory.instance.objectNode();
    switch (format) {
      case OPENAI_CHAT ->
          describe(tool.put("type", "function").putObject("function"), "parameters");
      case OPENAI_RESPONSES ->
          describe(tool.put("type", "function"), "parameters").put("strict", false);
      case ANTHROPIC -> describe(tool, "input_schema");
      case GEMINI, PI -> describe(tool, "parameters");
    }
    return tool;
  }

  private static ObjectNode describe(ObjectNode tool, String schema) {
    return tool.put("name", NAME).put("description", DESCRIPTION).set(schema, parameters());
  }

  private static JsonNode parameters() {
    try {
      return JacksonJson.MAPPER.readTree(PARAMETERS);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
