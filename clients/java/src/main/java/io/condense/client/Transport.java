package io.condense.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Calls on a channel, with what goes along with each of them and the errors of this client. */
final class Transport {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> SESSION =
      Metadata.Key.of("x-condense-session", Metadata.ASCII_STRING_MARSHALLER);

  /**
   * Longer ids are not for load balancers: the server refuses them, and metadata of their size
   * would not reach it.
   */
  private static final int MAX_SESSION_HEADER = 8000;

  private final Channel channel;
  final ClientOptions options;

  private Transport(Channel channel, ClientOptions options) {
    this.channel = channel;
    this.options = options;
  }

  static Transport over(Channel channel, String token, ClientOptions options) {
    return new Transport(
        token == null ? channel : with(channel, AUTHORIZATION, "Bearer " + token), options);
  }

  /** The same for one session, which load balancers can keep on one server. */
  Transport forSession(String sessionId) {
    String session = percentEncoded(sessionId);
    return session.isEmpty() || session.length() > MAX_SESSION_HEADER
        ? this
        : new Transport(with(channel, SESSION, session), options);
  }

  private static Channel with(Channel channel, Metadata.Key<String> key, String value) {
    Metadata headers = new Metadata();
    headers.put(key, value);
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  /** One unary call, tried again as the policy says. */
  <Q, R> R call(MethodDescriptor<Q, R> method, Q request) {
    return options
        .retry()
        .run(
            () ->
                translated(
                    () ->
                        ClientCalls.blockingUnaryCall(
                            channel, method, within(options.callTimeout()), request)));
  }

  /** One upload, tried again as the policy says. */
  <Q, R> R upload(MethodDescriptor<Q, R> method, List<Q> requests) {
    return options.retry().run(() -> translated(() -> uploadOnce(method, requests)));
  }

  private <Q, R> R uploadOnce(MethodDescriptor<Q, R> method, List<Q> requests) {
    CompletableFuture<R> answer = new CompletableFuture<>();
    Context.CancellableContext context = Context.current().withCancellation();
    try {
      StreamObserver<Q> sink =
          context.call(
              () ->
                  ClientCalls.asyncClientStreamingCall(
                      channel.newCall(method, within(options.uploadTimeout())), answering(answer)));
      for (Q request : requests) {
        if (!answer.isDone()) {
          sink.onNext(request);
        }
      }
      sink.onCompleted();
      return answer.get();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof StatusRuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(failed.getCause());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw io.grpc.Status.CANCELLED
          .withDescription("the thread was interrupted")
          .asRuntimeException();
    } catch (RuntimeException failure) {
      throw failure;
    } catch (Exception impossible) {
      throw new IllegalStateException(impossible);
    } finally {
      context.cancel(null);
    }
  }

  private static <R> StreamObserver<R> answering(CompletableFuture<R> answer) {
    return new StreamObserver<>() {
      @Override
      public void onNext(R response) {
        answer.complete(response);
      }

      @Override
      public void onError(Throwable failure) {
        answer.completeExceptionally(failure);
      }

      @Override
      public void onCompleted() {
        answer.completeExceptionally(
            io.grpc.Status.INTERNAL
                .withDescription("the upload has ended without an answer")
                .asRuntimeException()); // does nothing if there was one
      }
    };
  }

  /**
   * A server stream and its first message; until that has come, it is tried again as the policy
   * says.
   */
  <Q, R> Stream<R> open(MethodDescriptor<Q, R> method, Q request, Optional<Duration> timeout) {
    return options
        .retry()
        .run(
            () -> {
              Context.CancellableContext context = Context.current().withCancellation();
              boolean isOpen = false;
              try {
                Iterator<R> responses =
                    translated(
                        () -> {
                          Context previous = context.attach();
                          try {
                            return ClientCalls.blockingServerStreamingCall(
                                channel, method, within(timeout), request);
                          } finally {
                            context.detach(previous);
                          }
                        });
                translated(responses::hasNext);
                isOpen = true;
                return new Stream<>(responses, context);
              } finally {
                if (!isOpen) {
                  context.cancel(null);
                }
              }
            });
  }

  /** The messages of a server stream. Closing it cancels the call, unless it has ended. */
  static final class Stream<R> implements AutoCloseable {
    private final Iterator<R> responses;
    private final Context.CancellableContext context;

    private Stream(Iterator<R> responses, Context.CancellableContext context) {
      this.responses = responses;
      this.context = context;
    }

    /** The next message, or null at the end. */
    R receive() {
      return translated(() -> responses.hasNext() ? responses.next() : null);
    }

    @Override
    public void close() {
      context.cancel(null);
    }
  }

  private CallOptions within(Optional<Duration> timeout) {
    CallOptions call = CallOptions.DEFAULT.withMaxOutboundMessageSize(options.maxMessageBytes());
    return timeout
        .map(it -> call.withDeadlineAfter(it.toNanos(), TimeUnit.NANOSECONDS))
        .orElse(call);
  }

  private static <R> R translated(Supplier<R> call) {
    try {
      return call.get();
    } catch (StatusRuntimeException failure) {
      throw Errors.of(failure);
    }
  }

  /** Metadata is ASCII; all other characters are percent-encoded. */
  private static String percentEncoded(String text) {
    StringBuilder encoded = new StringBuilder();
    for (byte unit : text.getBytes(StandardCharsets.UTF_8)) {
      if (unit > 0x20 && unit < 0x7f && unit != '%') {
        encoded.append((char) unit);
      } else {
        encoded.append(String.format("%%%02X", unit & 0xff));
      }
    }
    return encoded.toString();
  }
}
