package io.condense.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.condense.v1.PruneOn;
import io.condense.v1.SessionConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a real server (CONDENSE_TARGET) and a bad connection to it do to a client. See `check`. */
class WithServerTest {
  private static final SessionConfig ON_DEMAND =
      SessionConfig.newBuilder().setPruneOn(PruneOn.PRUNE_ON_ON_DEMAND).build();

  private String target;
  private CondenseClient client;

  @BeforeEach
  void connect() {
    target = System.getenv("CONDENSE_TARGET");
    client = CondenseClient.connect(target);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void callsOfManyThreadsOnOneSessionMayOverlap() throws Exception {
    Session<String> session = fresh("overlap");
    List<String> messages = history(30, 2000);
    ExecutorService threads = Executors.newFixedThreadPool(8);
    List<Future<Boolean>> answers = new ArrayList<>();
    for (int number = 0; number < 24; number++) {
      List<String> own = messages.subList(0, messages.size() - number % 5);
      answers.add(threads.submit(() -> session.prune(own).messages().size() == own.size()));
    }
    for (Future<Boolean> answer : answers) {
      assertTrue(answer.get());
    }
    threads.shutdown();
    assertEquals(messages, session.prune(messages).messages());
  }

  @Test
  void anInterruptedThreadGetsItsCallBackAndTheSessionGoesOn() throws Exception {
    Session<String> session = fresh("interrupted");
    List<String> messages = history(300, 20_000);
    Thread.currentThread().interrupt();
    assertThrows(CondenseException.Cancelled.class, () -> session.prune(messages));
    assertTrue(Thread.interrupted());
    Thread.currentThread().interrupt();
    assertThrows(CondenseException.Cancelled.class, () -> session.flush(messages));
    assertTrue(Thread.interrupted());
    assertEquals(messages, session.prune(messages).messages());
  }

  @Test
  void aStreamThatAnotherThreadClosesEnds() throws Exception {
    Session<String> session = fresh("closed");
    FlushStream stream = session.flush(history(300, 5_000));
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                stream.await();
                end.complete(null);
              } catch (CondenseException error) {
                end.complete(error);
              }
            });
    reader.start();
    stream.close();
    stream.close();
    Throwable error = end.get();
    assertTrue(
        error == null || error instanceof CondenseException.Cancelled, String.valueOf(error));
    assertTrue(session.flush(history(300, 5_000)).await().hasCounts());
  }

  @Test
  void noServerAndNoTimeAreToldApart() {
    ClientOptions once = ClientOptions.DEFAULT.withRetry(RetryPolicy.NEVER);
    try (CondenseClient nobody = CondenseClient.builder("127.0.0.1:1").options(once).build()) {
      assertThrows(CondenseException.Unavailable.class, nobody::capabilities);
    }
    ClientOptions noTime = ClientOptions.DEFAULT.withTimeouts(Duration.ZERO, Duration.ZERO);
    try (CondenseClient hasty = CondenseClient.builder(target).options(noTime).build()) {
      assertThrows(CondenseException.DeadlineExceeded.class, hasty::capabilities);
      FlushOptions options = FlushOptions.DEFAULT.withTimeout(Duration.ZERO);
      assertThrows(
          CondenseException.DeadlineExceeded.class,
          () -> session(hasty, "no-time").flush(history(2, 2000), options));
    }
  }

  @Test
  void aClosedClientSaysSo() {
    Session<String> session = fresh("closed-client");
    FlushStream stream = session.flush(history(100, 5_000));
    client.close();
    assertThrows(CondenseException.class, stream::await);
    assertInstanceOf(
        CondenseException.Unavailable.class,
        assertThrows(CondenseException.class, session::diagnostics));
  }

  @Test
  void whatABrokenConnectionCutsOffIsReadOn() throws Exception {
    Session<String> session = fresh("broken");
    List<String> messages = history(1, 5_000_000);
    session.flush(messages).await();
    try (Proxy proxy = new Proxy(target, 1_300_000);
        CondenseClient through = CondenseClient.connect(proxy.address());
        ResultReader reader = session(through, "broken").readResult("t1")) {
      String text = reader.readAll();
      assertTrue(
          messages.get(2).endsWith(text.replace("\n", "\\n") + "\"}"),
          text.length() + " characters");
      assertTrue(text.length() > 4_000_000);
      assertTrue(proxy.connections.get() >= 4, "the connection was cut");
    }
    ClientOptions once = ClientOptions.DEFAULT.withRetry(RetryPolicy.NEVER);
    List<String> big = history(60, 50_000);
    try (Proxy proxy = new Proxy(target, 1_300_000);
        CondenseClient through = CondenseClient.builder(proxy.address()).options(once).build()) {
      Session<String> cut = session(through, "uploads");
      assertThrows(CondenseException.Unavailable.class, () -> cut.prune(big));
    }
    assertEquals(big, fresh("uploads").prune(big).messages());
    assertFalse(session.prune(messages).messages().isEmpty());
    session.delete();
  }

  private Session<String> fresh(String id) {
    Session<String> session = session(client, id);
    session.delete();
    return session;
  }

  private static Session<String> session(CondenseClient client, String id) {
    return client.session("tests-of-java/" + id, Format.OPENAI_CHAT, Json.text(), ON_DEMAND);
  }

  private static List<String> history(int turns, int chars) {
    List<String> messages = new ArrayList<>();
    messages.add("{\"role\":\"user\",\"content\":\"Go.\"}");
    for (int number = 0; number < turns; number++) {
      String line = "line of %d with some text 🙂\\n".formatted(number);
      messages.add(
          ("{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%d\",\"type\":\"function\","
                  + "\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]}")
              .formatted(number));
      messages.add(
          "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"%s\"}"
              .formatted(number, line.repeat(chars / line.length() + 1)));
    }
    messages.add("{\"role\":\"assistant\",\"content\":\"Done.\"}");
    return messages;
  }

  /**
   * A way to the server that breaks after so many bytes of either direction, and can be gone again.
   */
  private static final class Proxy implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicInteger connections = new AtomicInteger();

    Proxy(String target, int bytes) throws IOException {
      String[] parts = target.split(":");
      Thread acceptor = new Thread(() -> accept(parts[0], Integer.parseInt(parts[1]), bytes));
      acceptor.setDaemon(true);
      acceptor.start();
    }

    String address() {
      return "127.0.0.1:" + listener.getLocalPort();
    }

    private void accept(String host, int port, int bytes) {
      while (!listener.isClosed()) {
        try {
          Socket near = listener.accept();
          Socket far = new Socket(host, port);
          connections.incrementAndGet();
          forward(near, far, bytes);
          forward(far, near, bytes);
        } catch (IOException closed) {
          // The test is over, or the next connection will do.
        }
      }
    }

    private static void forward(Socket from, Socket to, int bytes) {
      Thread thread =
          new Thread(
              () -> {
                try (from;
                    to) {
                  InputStream in = from.getInputStream();
                  OutputStream out = to.getOutputStream();
                  byte[] buffer = new byte[16 * 1024];
                  int left = bytes;
                  while (left > 0) {
                    int count = in.read(buffer, 0, Math.min(left, buffer.length));
                    if (count <= 0) {
                      return;
                    }
                    out.write(buffer, 0, count);
                    left -= count;
                  }
                } catch (IOException broken) {
                  // That is what it is for.
                }
              });
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public void close() throws IOException {
      listener.close();
    }
  }
}
