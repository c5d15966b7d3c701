package io.condense.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The quickstart of the README, compiled and run as it stands, against the server in
 * CONDENSE_TARGET.
 */
class ReadmeTest {
  private static final Pattern CODE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  @Test
  void theQuickstartRunsAndItsProcessEnds(@TempDir Path folder) throws Exception {
    assertNotNull(System.getenv("CONDENSE_TARGET"), "the address of a server: run `check`");
    Matcher code = CODE.matcher(Files.readString(Path.of("README.md")));
    assertTrue(code.find());
    Path source = Files.writeString(folder.resolve("Quickstart.java"), code.group(1));
    File output = folder.resolve("output").toFile();
    Process process =
        new ProcessBuilder("java", "-cp", System.getProperty("java.class.path"), source.toString())
            .redirectErrorStream(true)
            .redirectOutput(output)
            .start();
    assertTrue(process.waitFor(120, TimeUnit.SECONDS), "it ends by itself");
    String said = Files.readString(output.toPath());
    assertEquals(0, process.exitValue(), said);
    assertTrue(said.contains("COMPLETED"), said);
    assertTrue(said.contains("t1"), said);
  }

  @Test
  void theArchiveHasTheLicenseThatItSpeaksOf() throws Exception {
    Path archived = Path.of("target/classes/META-INF/LICENSE");
    assertEquals(Files.readString(Path.of("LICENSE")), Files.readString(archived));
  }
}
