package io.condense.client;

import java.time.Duration;
import java.util.Optional;

/**
 * How a client connects and how long it waits. The defaults fit a server with default settings;
 * timeouts hold for one attempt, and a flush has none of its own, because a summarizer takes the
 * time it takes.
 *
 * @param maxMessageBytes the limit for both directions, which should equal the server's
 * @param unaryDeltaBytes new messages of more bytes are uploaded as a stream of chunks
 * @param chunkBytes the size of these chunks, nearly
 * @param keepalive how often the connection is probed during calls; a server that allows fewer
 *     probes closes it
 * @param callTimeout how long a call may take; empty: as long as it takes
 * @param uploadTimeout how long an upload may take
 * @param retry when calls are tried again
 */
public record ClientOptions(
    int maxMessageBytes,
    int unaryDeltaBytes,
    int chunkBytes,
    Duration keepalive,
    Optional<Duration> callTimeout,
    Optional<Duration> uploadTimeout,
    RetryPolicy retry) {
  private static final int MIB = 1024 * 1024;

  /** The defaults. */
  public static final ClientOptions DEFAULT =
      new ClientOptions(
          64 * MIB,
          2 * MIB,
          MIB,
          Duration.ofSeconds(60),
          Optional.of(Duration.ofSeconds(30)),
          Optional.of(Duration.ofSeconds(300)),
          RetryPolicy.DEFAULT);

  /** The same with another limit for messages. */
  public ClientOptions withMaxMessageBytes(int bytes) {
    return new ClientOptions(
        bytes, unaryDeltaBytes, chunkBytes, keepalive, callTimeout, uploadTimeout, retry);
  }

  /** The same with uploads above another size, in chunks of another size. */
  public ClientOptions withUploads(int aboveBytes, int chunkBytes) {
    return new ClientOptions(
        maxMessageBytes, aboveBytes, chunkBytes, keepalive, callTimeout, uploadTimeout, retry);
  }

  /** The same with another interval of probes. */
  public ClientOptions withKeepalive(Duration interval) {
    return new ClientOptions(
        maxMessageBytes, unaryDeltaBytes, chunkBytes, interval, callTimeout, uploadTimeout, retry);
  }

  /** The same with other timeouts; null: as long as it takes. */
  public ClientOptions withTimeouts(Duration call, Duration upload) {
    return new ClientOptions(
        maxMessageBytes,
        unaryDeltaBytes,
        chunkBytes,
        keepalive,
        Optional.ofNullable(call),
        Optional.ofNullable(upload),
        retry);
  }

  /** The same with another policy. */
  public ClientOptions withRetry(RetryPolicy policy) {
    return new ClientOptions(
        maxMessageBytes,
        unaryDeltaBytes,
        chunkBytes,
        keepalive,
        callTimeout,
        uploadTimeout,
        policy);
  }
}
