package io.condense.client;

import io.condense.v1.CompactChainsResponse;
import io.condense.v1.FlushBatchesResponse;
import io.condense.v1.FlushCompleted;
import io.condense.v1.FlushEvent;
import io.condense.v1.FlushEvent.EventCase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
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
  /** The events of the next response; null at the end. */
  private final Supplier<List<FlushEvent>> source;

  private final AutoCloseable stream;

  /** The rest of a response. */
  private Iterator<FlushEvent> waiting = Collections.emptyIterator();

  private FlushEvent next;
  private boolean isDone;
  private FlushCompleted completed;

  private FlushStream(Supplier<List<FlushEvent>> source, AutoCloseable stream) {
    this.source = source;
    this.stream = stream;
  }

  static FlushStream ofFlush(Transport.Stream<FlushBatchesResponse> stream) {
    return new FlushStream(
        () -> {
          FlushBatchesResponse response = stream.receive();
          return response == null
              ? null
              : told(response.getEvent(), response.getFurtherEventsList());
        },
        stream);
  }

  static FlushStream ofCompaction(Transport.Stream<CompactChainsResponse> stream) {
    return new FlushStream(
        () -> {
          CompactChainsResponse response = stream.receive();
          return response == null
              ? null
              : told(response.getEvent(), response.getFurtherEventsList());
        },
        stream);
  }

  private static List<FlushEvent> told(FlushEvent first, List<FlushEvent> further) {
    List<FlushEvent> events = new ArrayList<>(1 + further.size());
    events.add(first);
    events.addAll(further);
    return events;
  }

  /**
   * Whether there is another event; waits for it. Events of kinds that this client does not know
   * are left out.
   */
  @Override
  public boolean hasNext() {
    while (next == null && !isDone) {
      if (waiting.hasNext()) {
        FlushEvent event = waiting.next();
        next = event.getEventCase() == EventCase.EVENT_NOT_SET ? null : event;
        continue;
      }
      List<FlushEvent> events;
      try {
        events = source.get();
      } catch (CondenseException error) {
        isDone = true;
        throw error;
      }
      if (events == null) {
        isDone = true;
        if (completed == null) {
          throw Errors.local(
              "the stream ended before its last event: the outcome is in the diagnostics");
        }
      } else {
        waiting = events.iterator();
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
