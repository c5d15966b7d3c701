/** Parts of an original to ask for. Characters and lines count from 1, and both ends belong to a part. */

import type { SliceSchema } from "./gen/condense/v1/query_pb.js";
import type { Init } from "./plain.js";

/** A part of an original. */
export type Slice = Init<typeof SliceSchema>;

/** How much of a part to show. */
export interface SliceOptions {
  /** At most so many characters. */
  readonly maxChars?: number;
}

/** How to look for lines. */
export interface MatchOptions extends SliceOptions {
  /** Read the pattern as an RE2 expression. */
  readonly regex?: boolean;
  /** Lines around each match. */
  readonly contextLines?: number;
}

/** The lines from `first` to `last` (undefined: to the end) of what `ref` names. */
export function lines(ref: string, first: number, last?: number, options: SliceOptions = {}): Slice {
  const lineCount = last === undefined ? {} : { lineCount: Math.max(0, last - Math.max(first, 1) + 1) };
  return { ref, selection: { case: "lines", value: { startLine: first, ...lineCount } }, ...options };
}

/** The characters from `first` to `last` (undefined: to the end) of what `ref` names. */
export function chars(ref: string, first: number, last?: number, options: SliceOptions = {}): Slice {
  const endChar = last === undefined ? {} : { endChar: last };
  return { ref, selection: { case: "chars", value: { startChar: first, ...endChar } }, ...options };
}

/** The lines that hold a text, or that match an RE2 expression, with lines around them. */
export function matches(ref: string, pattern: string, options: MatchOptions = {}): Slice {
  const { regex = false, contextLines = 0, ...rest } = options;
  return { ref, selection: { case: "pattern", value: { pattern, regex, contextLines } }, ...rest };
}
