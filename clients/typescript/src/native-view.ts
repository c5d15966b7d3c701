/**
 * Applies edits to the caller's own objects, and reads whole views.
 *
 * Everything that happens within an element is in the JSON that an edit brings; what is left is to drop, to insert and
 * to move elements. Objects that nothing happens to come back as they are.
 */

import type { Edit } from "./gen/condense/v1/edit_pb.js";

/** An edit of a kind that this client does not know, or at a place that the history does not have. */
export class EditNotUnderstood extends Error {}

/** The view. Throws `EditNotUnderstood`. */
export function applyEdits<T extends object>(objects: readonly T[], edits: readonly Edit[]): T[] {
  const elements = [...objects];
  const absent = new Set<number>();
  const behind = new Map<number, (() => T)[]>();
  const anchor = (index: number, element: () => T): void => {
    behind.set(index, [...(behind.get(index) ?? []), element]);
  };
  for (const edit of edits) {
    const change = edit.change;
    const isWithin = edit.partIndex !== undefined;
    if (change.case === undefined && !(isWithin && edit.nativeJson.length > 0)) {
      throw new EditNotUnderstood("an edit of a newer kind");
    }
    const at = position(edit.messageIndex, elements.length, change.case === "insertAfter" ? -1 : 0);
    if (edit.nativeJson.length > 0) {
      elements[at] = parse<T>(edit.nativeJson);
    }
    if (isWithin) {
      continue;
    }
    if (change.case === "drop") {
      absent.add(at);
    } else if (change.case === "insertAfter") {
      if (change.value.content.case !== "nativeJson") {
        throw new EditNotUnderstood("an inserted message that is not in the format of the session");
      }
      const inserted = parse<T>(change.value.content.value);
      anchor(at, () => inserted);
    } else if (change.case === "moveAfter") {
      absent.add(at);
      anchor(position(change.value.afterIndex, elements.length, -1), () => elements[at] as T);
    }
  }
  const view: T[] = [];
  for (let index = -1; index < elements.length; index++) {
    if (index >= 0 && !absent.has(index)) {
      view.push(elements[index] as T);
    }
    view.push(...(behind.get(index) ?? []).map((element) => element()));
  }
  return view;
}

/** The view that a server has written out. Elements that the caller has are the caller's own objects. */
export function readFullView<T extends object>(objects: readonly T[], nativeJson: Uint8Array): T[] {
  const own = new Map<string, T[]>();
  for (const item of objects.toReversed()) {
    const text = JSON.stringify(item);
    own.set(text, [...(own.get(text) ?? []), item]);
  }
  const shown = JSON.parse(new TextDecoder().decode(nativeJson)) as T[];
  return shown.map((element) => own.get(JSON.stringify(element))?.pop() ?? element);
}

function position(index: bigint, length: number, first: number): number {
  if (index < first || index >= length) {
    throw new EditNotUnderstood(`an edit at position ${index} of ${length}`);
  }
  return Number(index);
}

function parse<T>(json: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(json)) as T;
}
