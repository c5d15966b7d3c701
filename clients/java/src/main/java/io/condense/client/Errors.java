package io.condense.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.condense.client.CondenseException.Details;
import io.condense.client.CondenseException.FieldViolation;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Makes the exceptions of this client out of those of the transport. */
final class Errors {
  private static final String DOMAIN = "condense.v1";

  private static final Map<String, Function<Details, CondenseException>> BY_REASON =
      Map.ofEntries(
          Map.entry("REQUEST_INVALID", CondenseException.RequestInvalid::new),
          Map.entry("SESSION_ID_INVALID", CondenseException.SessionIdInvalid::new),
          Map.entry("MESSAGE_INVALID", CondenseException.MessageInvalid::new),
          Map.entry("MESSAGE_TOO_LARGE", CondenseException.MessageTooLarge::new),
          Map.entry("DELTA_TOO_LARGE", CondenseException.DeltaTooLarge::new),
          Map.entry("NATIVE_JSON_INVALID", CondenseException.NativeJsonInvalid::new),
          Map.entry("CONFIG_INVALID", CondenseException.ConfigInvalid::new),
          Map.entry("PAGE_TOKEN_INVALID", CondenseException.PageTokenInvalid::new),
          Map.entry("PATTERN_INVALID", CondenseException.PatternInvalid::new),
          Map.entry("SUMMARIZER_UNKNOWN", CondenseException.SummarizerUnknown::new),
          Map.entry("SESSION_NOT_FOUND", CondenseException.SessionNotFound::new),
          Map.entry("SESSION_ALREADY_EXISTS", CondenseException.SessionAlreadyExists::new),
          Map.entry("TRANSCRIPT_MISMATCH", CondenseException.TranscriptMismatch::new),
          Map.entry("FLUSH_IN_PROGRESS", CondenseException.FlushInProgress::new),
          Map.entry("REVISION_CONFLICT", CondenseException.RevisionConflict::new),
          Map.entry("QUOTA_EXCEEDED", CondenseException.QuotaExceeded::new),
          Map.entry("UNAUTHENTICATED", CondenseException.Unauthenticated::new),
          Map.entry("PERMISSION_DENIED", CondenseException.PermissionDenied::new),
          Map.entry("NOT_IMPLEMENTED", CondenseException.NotImplemented::new),
          Map.entry("INTERNAL", CondenseException.Internal::new),
          Map.entry("STORE_UNAVAILABLE", CondenseException.StoreUnavailable::new),
          Map.entry("SHUTTING_DOWN", CondenseException.ShuttingDown::new));

  private static final Map<Status.Code, Function<Details, CondenseException>> BY_CODE =
      Map.of(
          Status.Code.UNAVAILABLE, CondenseException.Unavailable::new,
          Status.Code.DEADLINE_EXCEEDED, CondenseException.DeadlineExceeded::new,
          Status.Code.CANCELLED, CondenseException.Cancelled::new,
          Status.Code.UNAUTHENTICATED, CondenseException.Unauthenticated::new,
          Status.Code.PERMISSION_DENIED, CondenseException.PermissionDenied::new,
          Status.Code.UNIMPLEMENTED, CondenseException.NotImplemented::new);

  private Errors() {}

  /** The exception of a failed call: by its reason, and without one by its code. */
  static CondenseException of(StatusRuntimeException failure) {
    Found found = new Found();
    for (Any detail : detailsOf(failure)) {
      try {
        found.read(detail);
      } catch (InvalidProtocolBufferException unreadable) {
        // What cannot be read counts as absent: a proxy may have mangled it.
      }
    }
    Status status = failure.getStatus();
    String message = Optional.ofNullable(status.getDescription()).orElse(status.getCode().name());
    Details details =
        new Details(
            message, found.reason, found.metadata, found.retryAfter, found.violations, failure);
    Function<Details, CondenseException> kind =
        found.reason.isEmpty() ? BY_CODE.get(status.getCode()) : BY_REASON.get(found.reason);
    return kind == null ? new CondenseException(details) : kind.apply(details);
  }

  /** An exception of this side: nothing was sent, or the answer was not what the contract says. */
  static CondenseException local(String reason, String message, Map<String, String> metadata) {
    return BY_REASON.get(reason).apply(Details.local(reason, message, metadata));
  }

  static CondenseException local(String message) {
    return new CondenseException(Details.local("", message, Map.of()));
  }

  /** The thread was interrupted while it waited to try again after a failure. */
  static CondenseException interrupted(CondenseException failure) {
    return new CondenseException.Cancelled(
        new Details(
            "the thread was interrupted", "", Map.of(), Optional.empty(), List.of(), failure));
  }

  static CondenseException resultNotFound(String ref) {
    String message = "'" + ref + "' names no result of this session, or several: use a ref";
    return new CondenseException.ResultNotFound(Details.local("", message, Map.of()));
  }

  private static List<Any> detailsOf(StatusRuntimeException failure) {
    try {
      com.google.rpc.Status status = StatusProto.fromThrowable(failure);
      return status == null ? List.of() : status.getDetailsList();
    } catch (IllegalArgumentException unreadable) {
      return List.of();
    }
  }

  /**
   * What the details say. Of several of a kind the first counts; a reason of another domain is none
   * of ours.
   */
  private static final class Found {
    private String reason = "";
    private Map<String, String> metadata = Map.of();
    private Optional<Duration> retryAfter = Optional.empty();
    private List<FieldViolation> violations = List.of();

    void read(Any detail) throws InvalidProtocolBufferException {
      if (detail.is(ErrorInfo.class) && reason.isEmpty()) {
        ErrorInfo info = detail.unpack(ErrorInfo.class);
        if (info.getDomain().equals(DOMAIN)) {
          reason = info.getReason();
          metadata = Map.copyOf(info.getMetadataMap());
        }
      } else if (detail.is(RetryInfo.class) && retryAfter.isEmpty()) {
        com.google.protobuf.Duration delay = detail.unpack(RetryInfo.class).getRetryDelay();
        Duration wanted = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
        retryAfter = Optional.of(wanted.isNegative() ? Duration.ZERO : wanted);
      } else if (detail.is(BadRequest.class) && violations.isEmpty()) {
        violations =
            detail.unpack(BadRequest.class).getFieldViolationsList().stream()
                .map(it -> new FieldViolation(it.getField(), it.getDescription()))
                .toList();
      }
    }
  }
}
