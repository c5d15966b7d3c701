/** What the extension says to the person in front of Pi: the status line, and sentences that are not repeated. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

const KEY = "condense";

type Level = "info" | "warning" | "error";

/** The person's side of a session. Without a screen (print mode) sentences go to stderr, warnings only. */
export class Host {
  private readonly said = new Set<string>();
  private isGone = false;

  constructor(private readonly context: ExtensionContext) {}

  /** Shows a text in the status line until the next one. */
  status(text: string | undefined): void {
    if (!this.isGone) {
      this.context.ui.setStatus(KEY, text || undefined);
    }
  }

  /** Says a sentence. */
  say(text: string, level: Level = "info"): void {
    if (this.isGone) {
      return;
    }
    if (this.context.hasUI) {
      this.context.ui.notify(text, level);
    } else if (level !== "info") {
      console.error(text);
    }
  }

  /** Says a sentence unless it was said before. */
  sayOnce(text: string, level: Level): void {
    if (!this.said.has(text)) {
      this.said.add(text);
      this.say(text, level);
    }
  }

  /** Says nothing any more: Pi refuses what comes from a session that it has left. */
  leave(): void {
    this.status(undefined);
    this.isGone = true;
  }
}
