package io.condense.client;

import io.condense.v1.QueryBlock;
import io.condense.v1.QueryResult;
import io.condense.v1.ToolCallRecord;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Originals that were read back.
 *
 * @param text ready to be handed to the model
 * @param results one member per ref
 */
public record Answer(String text, List<QueryResult> results) {
  /** The records that were found, in the order of the text, each once. */
  public List<ToolCallRecord> records() {
    Map<String, ToolCallRecord> found = new LinkedHashMap<>();
    for (QueryResult result : results) {
      for (QueryBlock block : result.getBlocksList()) {
        if (block.hasRecord()) {
          found.putIfAbsent(block.getRecord().getOccurrenceKey(), block.getRecord());
        }
      }
    }
    return List.copyOf(found.values());
  }
}
