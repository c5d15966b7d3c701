package io.condense.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.condense.v1.ErrorReason;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Errors come from reasons, and from codes only where there is none. */
class ErrorsTest {
  @Test
  void everyReasonOfTheContractHasAClassOfItsOwn() {
    for (ErrorReason reason : ErrorReason.values()) {
      if (reason == ErrorReason.UNRECOGNIZED || reason.getNumber() == 0) {
        continue;
      }
      String name = reason.name().substring("ERROR_REASON_".length());
      CondenseException error =
          Errors.of(failure(Status.Code.INVALID_ARGUMENT, name, "condense.v1"));
      assertNotEquals(CondenseException.class, error.getClass(), name);
      assertEquals(name, error.reason());
      assertEquals(name.replace("_", ""), error.getClass().getSimpleName().toUpperCase());
      assertEquals(Optional.of(Duration.ofMillis(1500)), error.retryAfter());
    }
  }

  @Test
  void reasonsThatAreNotOursAreNotGuessed() {
    CondenseException later =
        Errors.of(failure(Status.Code.NOT_FOUND, "MADE_LATER", "condense.v1"));
    assertEquals(CondenseException.class, later.getClass());
    assertEquals("MADE_LATER", later.reason());
    CondenseException proxy =
        Errors.of(failure(Status.Code.UNAVAILABLE, "SESSION_NOT_FOUND", "proxy.example"));
    assertEquals(CondenseException.Unavailable.class, proxy.getClass());
    assertEquals("", proxy.reason());
  }

  @Test
  void detailsThatNobodyCanReadCountAsAbsent() {
    Metadata trailers = new Metadata();
    Metadata.Key<byte[]> key =
        Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
    trailers.put(key, "\u00ff nonsense".getBytes(StandardCharsets.ISO_8859_1));
    StatusRuntimeException failure = Status.UNAVAILABLE.asRuntimeException(trailers);
    CondenseException error = Errors.of(failure);
    assertEquals(CondenseException.Unavailable.class, error.getClass());
    assertSame(failure, error.getCause());
    assertEquals(
        CondenseException.class, Errors.of(Status.UNKNOWN.asRuntimeException()).getClass());
  }

  @Test
  void onlyWhatMayPassIsTriedAgainAndNotForEver() {
    RetryPolicy policy = RetryPolicy.DEFAULT;
    CondenseException unavailable = Errors.of(Status.UNAVAILABLE.asRuntimeException());
    long third = policy.delay(3, unavailable).orElseThrow().toMillis();
    assertEquals(true, third >= 200 && third <= 400, "waits " + third);
    assertEquals(Optional.empty(), policy.delay(4, unavailable));
    assertEquals(Optional.empty(), RetryPolicy.NEVER.delay(1, unavailable));
    CondenseException running =
        Errors.of(failure(Status.Code.ABORTED, "FLUSH_IN_PROGRESS", "condense.v1"));
    assertEquals(Optional.empty(), policy.delay(1, running));
    CondenseException quota =
        Errors.of(failure(Status.Code.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED", "condense.v1"));
    assertEquals(Optional.of(Duration.ofMillis(1500)), policy.delay(1, quota));
  }

  @Test
  void anInterruptedWaitIsACancelledCall() {
    CondenseException unavailable = Errors.of(Status.UNAVAILABLE.asRuntimeException());
    Thread.currentThread().interrupt();
    CondenseException error =
        assertThrows(
            CondenseException.Cancelled.class,
            () ->
                RetryPolicy.DEFAULT.run(
                    () -> {
                      throw unavailable;
                    }));
    assertEquals(true, Thread.interrupted(), "the thread stays interrupted");
    assertSame(unavailable, error.getCause());
  }

  private static StatusRuntimeException failure(Status.Code code, String reason, String domain) {
    com.google.protobuf.Duration delay =
        com.google.protobuf.Duration.newBuilder().setSeconds(1).setNanos(500_000_000).build();
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(code.value())
            .addDetails(
                Any.pack(ErrorInfo.newBuilder().setReason(reason).setDomain(domain).build()))
            .addDetails(Any.pack(RetryInfo.newBuilder().setRetryDelay(delay).build()))
            .build());
  }
}
