package io.condense.client;

import io.condense.v1.MessageFormat;

/** The shape of the messages of a session. */
public enum Format {
  /** The {@code messages} of the OpenAI Chat Completions API. */
  OPENAI_CHAT(MessageFormat.MESSAGE_FORMAT_OPENAI_CHAT),
  /** The {@code input} items of the OpenAI Responses API. */
  OPENAI_RESPONSES(MessageFormat.MESSAGE_FORMAT_OPENAI_RESPONSES),
  /** The {@code messages} of the Anthropic Messages API. */
  ANTHROPIC(MessageFormat.MESSAGE_FORMAT_ANTHROPIC),
  /** The {@code contents} of the Gemini API. */
  GEMINI(MessageFormat.MESSAGE_FORMAT_GEMINI),
  /** Messages of the Pi agent. */
  PI(MessageFormat.MESSAGE_FORMAT_PI);

  private final MessageFormat proto;

  Format(MessageFormat proto) {
    this.proto = proto;
  }

  MessageFormat proto() {
    return proto;
  }
}
