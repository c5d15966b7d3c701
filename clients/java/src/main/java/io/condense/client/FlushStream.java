package io.condense.client;

import io.condense.v1.CompactChainsResponse;
import io.condense.v1.FlushBatchesResponse;
import io.condense.v1.FlushCompleted;
import io.condense.v1.FlushEvent;
import io.condense.v1.FlushEvent.EventCase;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The events of a flush or a compaction as they come, for one reader; the last one is always {@code
 * completed}.
 *
 * <p>Closing it before its end stops a flush that this call has started; one that it followed
 * ({@code attach}) goes on. {@code close} may be called from any thread. Use it in a try statement,
 * also with {@link #await}.
 */
public final class FlushStream
    implements Iterator<FlushEvent>, Iterable<FlushEvent>, AutoCloseable {
  private final Supplier<FlushEvent> source;
  private final AutoCloseable stream;
  private FlushEvent next;
  private boolean isDone;
  private FlushCompleted completed;

  private FlushStream(Supplier<FlushEvent> source, AutoCloseable stream) {
    this.source = source;
    this.stream = stream;
  }

  static FlushStream ofFlush(Transport.Stream<FlushBatchesResponse> stream) {
    return new FlushStream(
        () ->
            Optional.ofNullable(stream.receive()).map(FlushBatchesResponse::getEvent).orElse(null),
        stream);
  }

  static FlushStream ofCompaction(Transport.Stream<CompactChainsResponse> stream) {
    return new FlushStream(
        () ->
            Optional.ofNullable(stream.receive()).map(CompactChainsResponse::getEvent).orElse(null),
        stream);
  }

  /**
   * Whether there is another event; waits for it. Events of kinds that this client does not know
   * are left out.
   */
  @Override
  public boolean hasNext() {
    while (next == null && !isDone) {
      FlushEvent event;
      try {
        event = source.get();
      } catch (CondenseException error) {
        isDone = true;
        throw error;
      }
      if (event == null) {
        isDone = true;
        if (completed == null) {
          throw Errors.local(
              "the stream ended before its last event: the outcome is in the diagnostics");
        }
      } else if (event.getEventCase() != EventCase.EVENT_NOT_SET) {
        next = event;
      }
    }
    return next != null;
  }

  @Override
  public FlushEvent next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    FlushEvent event = next;
    next = null;
    if (event.hasCompleted()) {
      completed = event.getCompleted();
    }
    return event;
  }

  /** This stream, for a {@code for} statement. */
  @Override
  public Iterator<FlushEvent> iterator() {
    return this;
  }

  /** How it ended; empty until the last event has come. */
  public Optional<FlushCompleted> completed() {
    return Optional.ofNullable(completed);
  }

  /** Reads to the end and says how it ended. */
  public FlushCompleted await() {
    while (hasNext()) {
      next();
    }
    if (completed == null) {
      throw Errors.local(
          "the stream ended before its last event: the outcome is in the diagnostics");
    }
    return completed;
  }

  /** Leaves the stream. */
  @Override
  public void close() {
    try {
      stream.close();
    } catch (Exception impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
