/**
 * The tool by which a model gets originals back: its definition for each provider, and how its arguments are read.
 *
 * Register the definition from the first request of a session on: a list of tools that changes later breaks the
 * provider's prompt cache. For the same reason the definition never changes within a version. Models write arguments
 * in many ways; whatever is clear is taken, and the rest is answered with a sentence that says what is wanted.
 */

import { chars, lines, matches, type Slice } from "./slices.js";

/** The name of the tool. Stubs and summaries tell the model to call it. */
export const RECOVERY_TOOL_NAME = "context_tree_query";

/** What the model is told about it. */
export const RECOVERY_TOOL_DESCRIPTION =
  "Returns the original, complete output of earlier tool calls that now appear only as a summary or a stub. " +
  "Pass the refs exactly as the stub or summary shows them, for example t12. For a long output ask for a part by " +
  "lines, chars or a pattern.";

/** The JSON schema of its arguments. A new value with every call. */
export function recoveryToolParameters() {
  const range = (description: string) => ({ type: "array", items: { type: "integer" }, description });
  return {
    type: "object",
    properties: {
      toolCallIds: {
        type: "array",
        items: { type: "string" },
        description: "Refs of tool calls, such as t12, or tool call ids.",
      },
      slices: {
        type: "array",
        description: "Optional: parts instead of whole outputs. Each names a ref of toolCallIds.",
        items: {
          type: "object",
          properties: {
            ref: { type: "string", description: "A member of toolCallIds." },
            lines: range("First and last line, from 1, for example [2001, 2400]."),
            chars: range("First and last character, from 1."),
            pattern: { type: "string", description: "Only the lines that contain this text." },
            regex: { type: "boolean", description: "Read pattern as an RE2 expression." },
            contextLines: { type: "integer", description: "Lines around each match." },
          },
          required: ["ref"],
        },
      },
    },
    required: ["toolCallIds"],
  };
}

/** The definition as each provider takes it. */
export interface RecoveryTools {
  readonly openai: {
    readonly type: "function";
    readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema };
  };
  readonly "openai-responses": {
    readonly type: "function";
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonSchema;
    readonly strict: false;
  };
  readonly anthropic: { readonly name: string; readonly description: string; readonly input_schema: JsonSchema };
  readonly gemini: { readonly name: string; readonly description: string; readonly parameters: JsonSchema };
}

type JsonSchema = ReturnType<typeof recoveryToolParameters>;

/** The definition as a member of the provider's list of tools; for Gemini, of its `functionDeclarations`. */
export function recoveryTool<P extends keyof RecoveryTools>(provider: P): RecoveryTools[P] {
  const named = { name: RECOVERY_TOOL_NAME, description: RECOVERY_TOOL_DESCRIPTION };
  const parameters = recoveryToolParameters();
  const tools: RecoveryTools = {
    openai: { type: "function", function: { ...named, parameters } },
    "openai-responses": { type: "function", ...named, parameters, strict: false },
    anthropic: { ...named, input_schema: parameters },
    gemini: { ...named, parameters },
  };
  return tools[provider];
}

/** Arguments that name nothing to read. The message is the answer for the model. */
export class ArgumentsUnclear extends Error {}

/** What a model wants to read. */
export interface ToolQuery {
  readonly refs: readonly string[];
  readonly slices: readonly Slice[];
}

const WANTED = 'Call it again with {"toolCallIds": ["t12"]}, the refs as the stub or summary shows them.';

/** The query in the arguments of a tool call, parsed or as the model's text. Throws `ArgumentsUnclear`. */
export function readArguments(args: unknown): ToolQuery {
  let value = args;
  if (typeof args === "string") {
    value = parsed(args, `The arguments of ${RECOVERY_TOOL_NAME} are not valid JSON.`);
  }
  if (!isObject(value)) {
    throw new ArgumentsUnclear(`The arguments of ${RECOVERY_TOOL_NAME} are not an object. ${WANTED}`);
  }
  const slices = list(value["slices"], "slices").map(slice);
  let refs = list(value["toolCallIds"], "toolCallIds").map(ref);
  if (refs.length === 0) {
    refs = [...new Set(slices.map((part) => part.ref ?? ""))];
  }
  if (refs.length === 0) {
    throw new ArgumentsUnclear(`${RECOVERY_TOOL_NAME} was called without refs. ${WANTED}`);
  }
  return { refs, slices };
}

/** A list; a single member and a list written as text are taken for one. */
function list(value: unknown, name: string): unknown[] {
  if (typeof value === "string" && /^\s*[[{]/.test(value)) {
    value = parsed(value, `${name} is not valid JSON.`);
  }
  if (value === undefined || value === null) {
    return [];
  }
  return Array.isArray(value) ? value : [value];
}

function parsed(text: string, complaint: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ArgumentsUnclear(`${complaint} ${WANTED}`);
  }
}

function ref(value: unknown): string {
  if (typeof value !== "string") {
    throw new ArgumentsUnclear(`A member of toolCallIds is not a text. ${WANTED}`);
  }
  if (!value.isWellFormed()) {
    throw new ArgumentsUnclear(`A member of toolCallIds holds half of a character. ${WANTED}`);
  }
  return value;
}

function slice(value: unknown): Slice {
  const part = isObject(value) ? value : {};
  const name = ref(part["ref"] ?? unclearSlice());
  if (part["lines"] !== undefined && part["lines"] !== null) {
    return lines(name, ...range(part["lines"]));
  }
  if (part["chars"] !== undefined && part["chars"] !== null) {
    return chars(name, ...range(part["chars"]));
  }
  const pattern = part["pattern"];
  if (pattern !== undefined && pattern !== null) {
    if (typeof pattern !== "string" || !pattern.isWellFormed()) {
      return unclearSlice();
    }
    const contextLines = Number(part["contextLines"] ?? 0);
    const isCount = Number.isInteger(contextLines) && Math.abs(contextLines) < 2 ** 31;
    return matches(name, pattern, { regex: part["regex"] === true, contextLines: isCount ? contextLines : 0 });
  }
  return { ref: name };
}

/** First and last: a list of one or two numbers, a text such as `10-40`, or one number. */
function range(value: unknown): [number, number?] {
  let ends: unknown[];
  if (typeof value === "string") {
    ends = value.split(/[-\s]+/).filter((end) => end !== "");
  } else {
    ends = Array.isArray(value) ? value : [value, value];
  }
  const [first, last] = ends.map((end) => (end === null ? undefined : Math.trunc(Number(end))));
  const areNumbers = Number.isSafeInteger(first) && (last === undefined || Number.isSafeInteger(last));
  if (first === undefined || ends.length > 2 || !areNumbers) {
    return unclearSlice();
  }
  return last === undefined ? [first] : [first, last];
}

function unclearSlice(): never {
  throw new ArgumentsUnclear(
    "A member of slices is not clear. " +
      'Use {"ref": "t12", "lines": [1, 200]}, {"ref": "t12", "chars": [1, 5000]} or {"ref": "t12", "pattern": "x"}.',
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
