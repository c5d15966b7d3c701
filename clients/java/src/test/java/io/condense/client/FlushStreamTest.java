package io.condense.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.condense.v1.CompactChainsRequest;
import io.condense.v1.CompactChainsResponse;
import io.condense.v1.FlushBatchesRequest;
import io.condense.v1.FlushBatchesResponse;
import io.condense.v1.FlushCompleted;
import io.condense.v1.FlushEvent;
import io.condense.v1.FlushStarted;
import io.condense.v1.Notice;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Events of flushes and compactions, alone and together in a response. */
class FlushStreamTest {
  private static final List<FlushEvent> EVENTS =
      List.of(
          event(1).setStarted(FlushStarted.getDefaultInstance()).build(),
          event(2).build(), // of a kind that came later
          event(3).setNotice(Notice.getDefaultInstance()).build(),
          event(4).build(),
          event(5).setCompleted(FlushCompleted.newBuilder().setRevision("r2")).build());

  private static final List<Function<Session<String>, FlushStream>> CALLS =
      List.of(Session::flush, Session::compact);

  @Test
  void eventsComeOneByOneAndInOrderHoweverManyAResponseHas() {
    for (int together = 1; together <= EVENTS.size(); together++) {
      for (Function<Session<String>, FlushStream> call : CALLS) {
        List<Long> told = new ArrayList<>();
        try (FlushStream stream = call.apply(session(new Telling(EVENTS, together)))) {
          for (FlushEvent event : stream) {
            told.add(event.getSequence());
            assertEquals(event.hasCompleted(), stream.completed().isPresent());
          }
          assertEquals("r2", stream.completed().orElseThrow().getRevision());
        }
        assertEquals(List.of(1L, 3L, 5L), told, together + " in a response");
      }
    }
  }

  @Test
  void aStreamWithoutItsLastEventIsAnError() {
    for (int together = 1; together < EVENTS.size(); together++) {
      for (Function<Session<String>, FlushStream> call : CALLS) {
        try (FlushStream stream =
            call.apply(session(new Telling(EVENTS.subList(0, 4), together)))) {
          assertThrows(CondenseException.class, stream::await);
          assertTrue(stream.completed().isEmpty());
        }
      }
    }
  }

  @Test
  void aResponseOfManyEventsCanBeLeftInItsMiddle() {
    Telling waiting = new Telling(EVENTS.subList(0, 4), 4);
    waiting.goesOn = true;
    FlushStream stream = session(waiting).flush();
    assertTrue(stream.next().hasStarted());
    assertFalse(waiting.isCancelled);
    stream.close();
    assertTrue(waiting.isCancelled);
    assertThrows(CondenseException.Cancelled.class, stream::await);
  }

  private static FlushEvent.Builder event(long sequence) {
    return FlushEvent.newBuilder().setSequence(sequence);
  }

  private static Session<String> session(Channel channel) {
    Transport transport = Transport.over(channel, null, ClientOptions.DEFAULT);
    return new Session<>("s", Format.OPENAI_CHAT, Json.text(), null, transport);
  }

  /** A channel on which every flush tells these events, so many in a response if it is asked to. */
  private static final class Telling extends Channel {
    private final List<FlushEvent> events;
    private final int together;
    private boolean goesOn;
    private boolean isCancelled;

    Telling(List<FlushEvent> events, int together) {
      this.events = events;
      this.together = together;
    }

    private static FlushBatchesResponse flushed(List<FlushEvent> events) {
      return FlushBatchesResponse.newBuilder()
          .setEvent(events.get(0))
          .addAllFurtherEvents(events.subList(1, events.size()))
          .build();
    }

    private static CompactChainsResponse compacted(List<FlushEvent> events) {
      return CompactChainsResponse.newBuilder()
          .setEvent(events.get(0))
          .addAllFurtherEvents(events.subList(1, events.size()))
          .build();
    }

    private static boolean isJoint(Object request) {
      return request instanceof CompactChainsRequest compaction
          ? compaction.getJointEvents()
          : ((FlushBatchesRequest) request).getJointEvents();
    }

    @Override
    public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
      return new ClientCall<>() {
        private Listener<R> listener;
        private boolean isCompaction;
        private boolean isRunning;
        private int wanted;
        private int at;
        private int count;

        @Override
        public void start(Listener<R> responses, Metadata headers) {
          listener = responses;
          Context.current()
              .addListener(left -> cancel(null, left.cancellationCause()), Runnable::run);
        }

        @Override
        public void request(int messages) {
          wanted += messages;
          tell();
        }

        @Override
        public void cancel(String message, Throwable cause) {
          isCancelled = isRunning;
          end(Status.CANCELLED);
        }

        @Override
        public void sendMessage(Q message) {
          isCompaction = message instanceof CompactChainsRequest;
          count = isJoint(message) ? together : 1;
        }

        @Override
        public void halfClose() {
          isRunning = true;
          tell();
        }

        @SuppressWarnings("unchecked")
        private void tell() {
          while (isRunning && wanted > 0 && at < events.size()) {
            List<FlushEvent> chunk = events.subList(at, Math.min(at + count, events.size()));
            at += chunk.size();
            wanted--;
            listener.onMessage((R) (isCompaction ? compacted(chunk) : flushed(chunk)));
          }
          if (at == events.size() && !goesOn) {
            end(Status.OK);
          }
        }

        private void end(Status status) {
          if (isRunning) {
            isRunning = false;
            listener.onClose(status, new Metadata());
          }
        }
      };
    }

    @Override
    public String authority() {
      return "telling";
    }
  }
}
