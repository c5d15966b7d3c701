package io.condense.client;

/** See {@link Json#text()}. */
enum TextJson implements Json<String> {
  INSTANCE;

  @Override
  public String write(String element) {
    return element.strip();
  }

  @Override
  public String read(String json) {
    return json;
  }
}
