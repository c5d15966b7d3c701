package io.condense.client;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * How elements of a history are written and read as JSON. It holds no state and may be shared.
 *
 * @param <T> what an element is
 */
public interface Json<T> {
  /**
   * The element as the text of one JSON object. The same element always gives the same text.
   *
   * @throws Exception if it cannot be written; the call that needed it fails with {@code
   *     MessageInvalid}
   */
  String write(T element) throws Exception;

  /** An element that the service has written. */
  T read(String json) throws Exception;

  /**
   * Nodes of Jackson. Decimal numbers that the service writes are read with all their digits; how
   * numbers of the caller's own nodes are written was decided when the caller parsed them.
   */
  static Json<JsonNode> jackson() {
    return JacksonJson.INSTANCE;
  }

  /**
   * Elements that are JSON texts themselves. Every character stays as it was, and any JSON library
   * can be used.
   */
  static Json<String> text() {
    return TextJson.INSTANCE;
  }
}
