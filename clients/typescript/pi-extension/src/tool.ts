/** The tool by which the model gets originals back, as Pi takes it. */

import {
  CondenseError,
  RECOVERY_TOOL_DESCRIPTION,
  RECOVERY_TOOL_NAME,
  recoveryToolParameters,
} from "@condense-grpc/client";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import type { Pruner } from "./pruner.js";

type Tool = Parameters<ExtensionAPI["registerTool"]>[0];

/** The tool, the same from the first request on: a list of tools that changes breaks the provider's cache. */
export function recoveryTool(pruner: () => Pruner | undefined): Tool {
  return {
    name: RECOVERY_TOOL_NAME,
    label: "Recover tool output",
    description: RECOVERY_TOOL_DESCRIPTION,
    promptSnippet: "Returns the original output of earlier tool calls that appear as a summary or a stub",
    parameters: recoveryToolParameters() as unknown as Tool["parameters"],
    prepareArguments,
    async execute(_id, params, signal) {
      const current = pruner();
      if (!current) {
        throw new Error("The archive is not open yet. Try again.");
      }
      try {
        const text = await current.session.answerToolCall(params, { signal });
        return { content: [{ type: "text", text }], details: {} };
      } catch (error) {
        const why = error instanceof CondenseError ? error.message : String(error);
        throw new Error(`The archive cannot be read now (${why}). Nothing is lost: try again later.`);
      }
    },
  };
}

/** Lists that a model has written as text or as a single member, which Pi would refuse before they are read. */
function prepareArguments(args: unknown): unknown {
  if (typeof args !== "object" || args === null) {
    return args;
  }
  const lists = Object.entries(args)
    .filter(([name, value]) => (name === "toolCallIds" || name === "slices") && value !== null && value !== undefined)
    .map(([name, value]) => [name, listOf(value)]);
  const { toolCallIds = [], slices } = Object.fromEntries(lists) as Record<string, unknown[] | undefined>;
  return { ...args, toolCallIds, ...(slices && { slices }) };
}

function listOf(value: unknown): unknown {
  if (typeof value === "string" && /^\s*[[{]/.test(value)) {
    try {
      return listOf(JSON.parse(value));
    } catch {
      return [value];
    }
  }
  return Array.isArray(value) ? value : [value];
}
