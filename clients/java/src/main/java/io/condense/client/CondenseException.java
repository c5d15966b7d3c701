package io.condense.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A call that failed, or that was refused before anything was sent.
 *
 * <p>There is one subclass per reason of the contract, chosen by that reason and never by a text. A
 * reason that this client does not know is a plain {@code CondenseException} with that reason.
 */
public class CondenseException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Details details;

  CondenseException(Details details) {
    super(details.message(), details.cause());
    this.details = details;
  }

  /**
   * The reason as the contract names it, such as {@code SESSION_NOT_FOUND}; empty if there is none.
   */
  public final String reason() {
    return details.reason();
  }

  /** Facts for programs, as the reason's comment in the contract lists them. */
  public final Map<String, String> metadata() {
    return details.metadata();
  }

  /** How long the service wants callers to wait; empty: it does not say. */
  public final Optional<Duration> retryAfter() {
    return details.retryAfter();
  }

  /** Which fields of the request are wrong. */
  public final List<FieldViolation> violations() {
    return details.violations();
  }

  /**
   * A field of the request that cannot be used.
   *
   * @param field its path in the contract
   * @param description what is wrong with it
   */
  public record FieldViolation(String field, String description) {}

  /**
   * Everything that an error says. The cause is the transport's own error; null if nothing was
   * sent.
   */
  record Details(
      String message,
      String reason,
      Map<String, String> metadata,
      Optional<Duration> retryAfter,
      List<FieldViolation> violations,
      Throwable cause) {
    static Details local(String reason, String message, Map<String, String> metadata) {
      return new Details(message, reason, metadata, Optional.empty(), List.of(), null);
    }
  }

  /** Something of the request cannot be used; nothing of it was applied. */
  public static class RequestInvalid extends CondenseException {
    private static final long serialVersionUID = 1L;

    RequestInvalid(Details details) {
      super(details);
    }
  }

  /** A session cannot have this id. */
  public static final class SessionIdInvalid extends RequestInvalid {
    private static final long serialVersionUID = 1L;

    SessionIdInvalid(Details details) {
      super(details);
    }
  }

  /** A message cannot be stored. Metadata {@code messageIndex}: where it is. */
  public static final class MessageInvalid extends RequestInvalid {
    private static final long serialVersionUID = 1L;

    MessageInvalid(Details details) {
      super(details);
    }
  }

  /** One message is larger than the server takes. */
  public static final class MessageTooLarge extends RequestInvalid {
    private static final long serialVersionUID = 1L;

    MessageTooLarge(Details details) {
      super(details);
    }
  }

  /** The new messages together are more than the server takes. */
  public static final class DeltaTooLarge extends RequestInvalid {
    private static final long serialVersionUID = 1L;

    DeltaTooLarge(Details details) {
      super(details);
    }
  }

  /** Native text cannot be read. */
  public static final class NativeJsonInvalid extends RequestInvalid {
    private static final long serialVersionUID = 1L;

    NativeJsonInvalid(Details details) {
      super(details);
    }
  }

  /** A knob has a value that it cannot have. */
  public static final class ConfigInvalid extends RequestInvalid {
    private static final long serialVersionUID = 1L;

    ConfigInvalid(Details details) {
      super(details);
    }
  }

  /** A page token or a cursor is not one of this request. */
  public static final class PageTokenInvalid extends RequestInvalid {
    private static final long serialVersionUID = 1L;

    PageTokenInvalid(Details details) {
      super(details);
    }
  }

  /** A regular expression cannot be used. */
  public static final class PatternInvalid extends RequestInvalid {
    private static final long serialVersionUID = 1L;

    PatternInvalid(Details details) {
      super(details);
    }
  }

  /** The server has no summarizer of that name. */
  public static final class SummarizerUnknown extends RequestInvalid {
    private static final long serialVersionUID = 1L;

    SummarizerUnknown(Details details) {
      super(details);
    }
  }

  /** There is no session with this id. */
  public static final class SessionNotFound extends CondenseException {
    private static final long serialVersionUID = 1L;

    SessionNotFound(Details details) {
      super(details);
    }
  }

  /** There is a session with this id. */
  public static final class SessionAlreadyExists extends CondenseException {
    private static final long serialVersionUID = 1L;

    SessionAlreadyExists(Details details) {
      super(details);
    }
  }

  /**
   * The base of a delta is not what the server has, and sending again from earlier bases has not
   * helped.
   */
  public static final class TranscriptMismatch extends CondenseException {
    private static final long serialVersionUID = 1L;

    TranscriptMismatch(Details details) {
      super(details);
    }
  }

  /** A flush or a compaction is running: follow it with {@code attach}, or wait for its end. */
  public static final class FlushInProgress extends CondenseException {
    private static final long serialVersionUID = 1L;

    FlushInProgress(Details details) {
      super(details);
    }
  }

  /** Other servers kept writing to the session at the same moment. */
  public static final class RevisionConflict extends CondenseException {
    private static final long serialVersionUID = 1L;

    RevisionConflict(Details details) {
      super(details);
    }
  }

  /** A limit of the server is reached. */
  public static final class QuotaExceeded extends CondenseException {
    private static final long serialVersionUID = 1L;

    QuotaExceeded(Details details) {
      super(details);
    }
  }

  /** The call has no valid credentials. */
  public static final class Unauthenticated extends CondenseException {
    private static final long serialVersionUID = 1L;

    Unauthenticated(Details details) {
      super(details);
    }
  }

  /** The caller may not do this. */
  public static final class PermissionDenied extends CondenseException {
    private static final long serialVersionUID = 1L;

    PermissionDenied(Details details) {
      super(details);
    }
  }

  /** This server does not have what was asked for. */
  public static final class NotImplemented extends CondenseException {
    private static final long serialVersionUID = 1L;

    NotImplemented(Details details) {
      super(details);
    }
  }

  /** A defect of the server. Metadata {@code incidentId} names it in the server's log. */
  public static final class Internal extends CondenseException {
    private static final long serialVersionUID = 1L;

    Internal(Details details) {
      super(details);
    }
  }

  /** A ref names no result of the session, or several. */
  public static final class ResultNotFound extends CondenseException {
    private static final long serialVersionUID = 1L;

    ResultNotFound(Details details) {
      super(details);
    }
  }

  /** No answer came. Whether the call took effect is not known; repeating it is safe. */
  public static class Unavailable extends CondenseException {
    private static final long serialVersionUID = 1L;

    Unavailable(Details details) {
      super(details);
    }
  }

  /** The server's store does not answer. */
  public static final class StoreUnavailable extends Unavailable {
    private static final long serialVersionUID = 1L;

    StoreUnavailable(Details details) {
      super(details);
    }
  }

  /** The server takes no more work. */
  public static final class ShuttingDown extends Unavailable {
    private static final long serialVersionUID = 1L;

    ShuttingDown(Details details) {
      super(details);
    }
  }

  /**
   * The call took longer than its timeout. Whether it took effect is not known; repeating it is
   * safe.
   */
  public static final class DeadlineExceeded extends CondenseException {
    private static final long serialVersionUID = 1L;

    DeadlineExceeded(Details details) {
      super(details);
    }
  }

  /** The call was cancelled, or its thread was interrupted. */
  public static final class Cancelled extends CondenseException {
    private static final long serialVersionUID = 1L;

    Cancelled(Details details) {
      super(details);
    }
  }
}
