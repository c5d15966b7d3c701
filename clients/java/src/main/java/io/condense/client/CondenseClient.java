package io.condense.client;

import com.fasterxml.jackson.databind.JsonNode;
import io.condense.v1.CapabilitiesServiceGrpc;
import io.condense.v1.GetCapabilitiesRequest;
import io.condense.v1.GetCapabilitiesResponse;
import io.condense.v1.SessionConfig;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A connection to a server. Owns its channel, may be shared by threads, and connects again by
 * itself.
 */
public final class CondenseClient implements AutoCloseable {
  private static final int CLOSE_SECONDS = 5;

  private final ManagedChannel channel;
  private final Transport transport;

  private CondenseClient(ManagedChannel channel, String token, ClientOptions options) {
    this.channel = channel;
    this.transport = Transport.over(channel, token, options);
  }

  /** Connects, lazily and in plain text, to {@code host:port}. */
  public static CondenseClient connect(String target) {
    return builder(target).build();
  }

  /** A client with options. */
  public static Builder builder(String target) {
    return new Builder(target);
  }

  /** A client over a channel that is there already. {@link #close} closes it. */
  public static CondenseClient over(ManagedChannel channel, ClientOptions options) {
    return new CondenseClient(channel, null, options);
  }

  /**
   * A session of the server over Jackson's nodes; its first call creates it if it does not exist.
   */
  public Session<JsonNode> session(String id, Format format) {
    return session(id, format, Json.jackson(), null);
  }

  /** The same with the configuration that it gets if it is created; null: the server's default. */
  public Session<JsonNode> session(String id, Format format, SessionConfig config) {
    return session(id, format, Json.jackson(), config);
  }

  /** The same over elements of another kind. */
  public <T> Session<T> session(String id, Format format, Json<T> json, SessionConfig config) {
    return new Session<>(id, format, json, config, transport);
  }

  /** What the server can do, and its limits. */
  public GetCapabilitiesResponse capabilities() {
    return transport.call(
        CapabilitiesServiceGrpc.getGetCapabilitiesMethod(),
        GetCapabilitiesRequest.getDefaultInstance());
  }

  /** The options that it was made with. */
  public ClientOptions options() {
    return transport.options;
  }

  /**
   * The connection, for calls of the contract that this class has no method for; see {@code
   * io.condense.v1}.
   */
  public ManagedChannel channel() {
    return channel;
  }

  /** Ends all calls and closes the channel. The sessions stay on the server. */
  @Override
  public void close() {
    channel.shutdownNow();
    try {
      channel.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Makes a client. */
  public static final class Builder {
    private final String target;
    private ChannelCredentials credentials = InsecureChannelCredentials.create();
    private String token;
    private ClientOptions options = ClientOptions.DEFAULT;

    private Builder(String target) {
      this.target = target;
    }

    /** Encrypts the connection, for example with {@code TlsChannelCredentials.create()}. */
    public Builder credentials(ChannelCredentials credentials) {
      this.credentials = credentials;
      return this;
    }

    /** Sends a token as the bearer of every call. */
    public Builder token(String token) {
      this.token = token;
      return this;
    }

    /** Limits, timeouts and retries. */
    public Builder options(ClientOptions options) {
      this.options = options;
      return this;
    }

    /** The client. It connects with its first call. */
    public CondenseClient build() {
      if (token != null && token.chars().anyMatch(unit -> unit < ' ' || unit > '~')) {
        throw Errors.local(
            "REQUEST_INVALID",
            "the token has characters that no header can hold: check it",
            Map.of());
      }
      ManagedChannel channel =
          Grpc.newChannelBuilder(target, credentials)
              .maxInboundMessageSize(options.maxMessageBytes())
              .keepAliveTime(options.keepalive().toNanos(), TimeUnit.NANOSECONDS)
              .keepAliveTimeout(20, TimeUnit.SECONDS)
              .disableRetry()
              .build();
      return new CondenseClient(channel, token, options);
    }
  }
}
