package io.condense.client;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** What stands for an element that was sent: the first half of the SHA-256 of its JSON. */
record Digest(long high, long low) {
  static Digest of(byte[] text) {
    try {
      ByteBuffer digest = ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text));
      return new Digest(digest.getLong(), digest.getLong());
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible); // every Java has it
    }
  }
}
