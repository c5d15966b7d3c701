package io.condense.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/**
 * How often a call is tried, and how long to wait in between.
 *
 * <p>Every call of this client is safe to repeat, so it is repeated when nothing came back (a lost
 * answer included), when the server asks to come back later, and when servers ran into each other.
 * What a caller has to correct or wait for on purpose (a running flush) is not repeated. The wait
 * doubles each time, and a server's own wish is honoured, unless it is longer than {@code
 * maxDelay}: then the error is the caller's.
 *
 * @param maxAttempts how often a call is tried in all
 * @param firstDelay the longest wait after the first failure; at least half of it is waited
 * @param maxDelay the longest wait of all
 */
public record RetryPolicy(int maxAttempts, Duration firstDelay, Duration maxDelay) {
  /** Four attempts within about a second. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(4, Duration.ofMillis(100), Duration.ofSeconds(10));

  /** Every call is tried once. */
  public static final RetryPolicy NEVER = new RetryPolicy(1, Duration.ZERO, Duration.ZERO);

  /** The same with another number of attempts. */
  public RetryPolicy withMaxAttempts(int attempts) {
    return new RetryPolicy(attempts, firstDelay, maxDelay);
  }

  /** Runs a call until it succeeds or there is no point in trying. */
  <R> R run(Supplier<R> call) {
    for (int attempt = 1; ; attempt++) {
      try {
        return call.get();
      } catch (CondenseException error) {
        Optional<Duration> delay = delay(attempt, error);
        if (delay.isEmpty()) {
          throw error;
        }
        sleep(delay.get(), error);
      }
    }
  }

  /**
   * How long to wait after the failed attempt number {@code attempt}, from 1; empty: do not try
   * again.
   */
  Optional<Duration> delay(int attempt, CondenseException error) {
    Optional<Duration> wish = error.retryAfter();
    boolean isTransient =
        error instanceof CondenseException.Unavailable
            || error instanceof CondenseException.RevisionConflict
            || (error instanceof CondenseException.QuotaExceeded && wish.isPresent());
    boolean isTooLong = wish.isPresent() && wish.get().compareTo(maxDelay) > 0;
    if (!isTransient || attempt >= maxAttempts || isTooLong) {
      return Optional.empty();
    }
    long longest = Math.min(firstDelay.toNanos() << Math.min(attempt - 1, 20), maxDelay.toNanos());
    long nanos = (long) (longest * ThreadLocalRandom.current().nextDouble(0.5, 1.0));
    return Optional.of(Duration.ofNanos(Math.max(nanos, wish.orElse(Duration.ZERO).toNanos())));
  }

  private static void sleep(Duration delay, CondenseException error) {
    try {
      Thread.sleep(delay.toMillis(), delay.toNanosPart() % 1_000_000);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw Errors.interrupted(error);
    }
  }
}
