/** An extension for tests: what a person does with keys, as commands. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function commands(pi: ExtensionAPI): void {
  pi.registerCommand("test-reload", {
    handler: async (_args, ctx) => {
      await ctx.reload();
    },
  });
  // Goes to the entry behind the answer with this text.
  pi.registerCommand("test-goto", {
    handler: async (text, ctx) => {
      const entry = ctx.sessionManager
        .getEntries()
        .find(
          (one) =>
            one.type === "message" &&
            one.message.role === "assistant" &&
            one.message.content.some((part) => part.type === "text" && part.text === text),
        );
      const { cancelled } = await ctx.navigateTree(entry?.id ?? "nowhere");
      ctx.ui.notify(`test-goto: ${cancelled ? "cancelled" : "done"}`, "info");
    },
  });
  pi.registerCommand("test-notice", {
    handler: async (text) => {
      pi.sendMessage({ customType: "test-notice", content: text, display: true, details: { by: "test" } });
    },
  });
}
