package io.condense.client;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.condense.v1.AppendMessagesRequest;
import io.condense.v1.CondenseServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Calls whose other side does not do what the contract says. */
class TransportTest {
  @Test
  void anUploadThatEndsWithoutAnAnswerIsAnErrorAndNoWaitForEver() {
    Transport transport = Transport.over(new Silent(), null, ClientOptions.DEFAULT);
    List<AppendMessagesRequest> chunks = List.of(AppendMessagesRequest.getDefaultInstance());
    assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () ->
            assertThrows(
                CondenseException.class,
                () -> transport.upload(CondenseServiceGrpc.getAppendMessagesMethod(), chunks)));
  }

  /** A channel on which every call ends well when the client has sent everything. */
  private static final class Silent extends Channel {
    @Override
    public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
      return new ClientCall<>() {
        private Listener<R> listener;

        @Override
        public void start(Listener<R> responses, Metadata headers) {
          listener = responses;
        }

        @Override
        public void request(int messages) {}

        @Override
        public void cancel(String message, Throwable cause) {}

        @Override
        public void halfClose() {
          listener.onClose(Status.OK, new Metadata());
        }

        @Override
        public void sendMessage(Q message) {}
      };
    }

    @Override
    public String authority() {
      return "silent";
    }
  }
}
