/**
 * An extension for the Pi coding agent: puts its sessions on a condense_grpc service.
 *
 * Before each request to the model Pi's list becomes a view (`context`). When the model has answered with text only
 * (`turn_end`), what is finished is condensed, with progress in the status line. Reloads of a session and moves in its
 * tree need nothing: Pi's list is then another one, which the service takes as a rewind. Every session is ended by
 * `session_shutdown`, which waits for a flush that is under way.
 */

import { buildSessionContext, type ExtensionAPI, type ExtensionContext } from "@earendil-works/pi-coding-agent";
import { CondenseError, FlushTrigger } from "@condense-grpc/client";

import { runCommand, SUBCOMMANDS } from "./command.js";
import { afterTurn, isFinalAnswer, type PiMessage } from "./history.js";
import { Host } from "./host.js";
import { Pruner } from "./pruner.js";
import { readSettings, registerFlags } from "./settings.js";
import { recoveryTool } from "./tool.js";

export default function condense(pi: ExtensionAPI): void {
  let pruner: Pruner | undefined;
  /** The list of the last request and what has come since; undefined: what the session file says. */
  let history: readonly PiMessage[] | undefined;

  let greeted: Promise<void> | undefined;

  registerFlags(pi);
  pi.registerTool(recoveryTool(() => pruner));

  pi.on("session_start", (_event, ctx) => {
    const host = new Host(ctx);
    try {
      pruner = new Pruner(readSettings(pi), ctx.sessionManager.getSessionId(), host);
    } catch (error) {
      host.say(`condense: ${error instanceof Error ? error.message : String(error)}`, "error");
      return;
    }
    greeted = pruner.greet(ctx.sessionManager);
  });

  pi.on("context", async (event, ctx) => {
    history = event.messages;
    await greeted;
    const messages = await pruner?.view(event.messages, { usage: usageOf(ctx), signal: ctx.signal });
    return messages && { messages };
  });

  pi.on("turn_end", (event, ctx) => {
    history = afterTurn(history ?? inFile(ctx), [event.message, ...event.toolResults]);
    if (isFinalAnswer(event.message)) {
      void pruner?.flush(history, FlushTrigger.MESSAGE_END);
    }
  });

  for (const moved of ["session_tree", "session_compact"] as const) {
    pi.on(moved as "session_tree", () => {
      history = undefined;
    });
  }

  pi.on("session_shutdown", async (_event, ctx) => {
    const current = pruner;
    // What is on its way to this extension is the last chance to hear of an answer.
    await new Promise((resolve) => setImmediate(resolve));
    const list = history ?? inFile(ctx);
    if (isFinalAnswer(list.at(-1))) {
      void current?.flush(list, FlushTrigger.MESSAGE_END);
    }
    await current?.close();
    pruner = undefined;
  });

  pi.registerCommand("condense", {
    description: `condense_grpc: ${Object.keys(SUBCOMMANDS).join(", ")}`,
    getArgumentCompletions: (prefix) =>
      Object.entries(SUBCOMMANDS)
        .filter(([name]) => name.startsWith(prefix))
        .map(([value, description]) => ({ value, label: value, description })),
    handler: async (args, ctx) => {
      if (!pruner) {
        ctx.ui.notify("condense: the settings cannot be used; see above", "error");
        return;
      }
      try {
        ctx.ui.notify(await runCommand(args, pruner, () => history ?? inFile(ctx)), "info");
      } catch (error) {
        ctx.ui.notify(`condense: ${error instanceof CondenseError ? error.message : String(error)}`, "error");
      }
    },
  });
}

/** The messages of the session's current branch, as Pi would show them to the model. */
function inFile({ sessionManager }: ExtensionContext): PiMessage[] {
  return buildSessionContext(sessionManager.getEntries(), sessionManager.getLeafId()).messages;
}

/** What Pi knows of the last request. */
function usageOf(ctx: ExtensionContext) {
  const usage = ctx.getContextUsage();
  return usage && { contextWindow: usage.contextWindow, ...(usage.tokens !== null && { tokens: usage.tokens }) };
}
