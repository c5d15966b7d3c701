/**
 * What is known already of a session that the service sees for the first time.
 *
 * A fork of a session that it knows begins as a copy of that. A session that was pruned within Pi is taken over with its
 * summaries and refs. In every other case, and if this fails, the session begins with the first request.
 */

import { open, readFile } from "node:fs/promises";

import type { CondenseClient } from "@condense-grpc/client";
import { MessageFormat, SessionService } from "@condense-grpc/client/contract";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

const ENTRIES_OF_A_PRUNER = "context-prune-";
const CHUNK_BYTES = 512 * 1024;

type Sessions = ExtensionContext["sessionManager"];

/** Makes the session on the service out of what is known. Returns whether anything was. */
export async function adopt(client: CondenseClient, sessions: Sessions, signal: AbortSignal): Promise<boolean> {
  const sessionId = sessions.getSessionId();
  const service = client.service(SessionService);
  const parent = sessions.getHeader()?.parentSession;
  const parentId = parent && (await idIn(parent));
  if (parentId) {
    await service.forkSession({ sessionId: parentId, newSessionId: sessionId, requestId: sessionId }, { signal });
    return true;
  }
  const file = sessions.getSessionFile();
  if (file && sessions.getEntries().some(isOfPruner)) {
    const header = { sessionId, format: MessageFormat.PI, requestId: sessionId };
    await service.importSession(payloads(header, await readFile(file)), { signal });
    return true;
  }
  return false;
}

function isOfPruner(entry: ReturnType<Sessions["getEntries"]>[number]): boolean {
  return (
    (entry.type === "custom" || entry.type === "custom_message") && entry.customType.startsWith(ENTRIES_OF_A_PRUNER)
  );
}

async function* payloads(header: { sessionId: string; format: MessageFormat; requestId: string }, file: Uint8Array) {
  yield { payload: { case: "header" as const, value: header } };
  for (let start = 0; start < file.length; start += CHUNK_BYTES) {
    yield { payload: { case: "chunk" as const, value: file.subarray(start, start + CHUNK_BYTES) } };
  }
}

/** The id in the header of a session file. */
async function idIn(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    for await (const line of file.readLines()) {
      return (JSON.parse(line) as { id?: string }).id;
    }
    return undefined;
  } finally {
    await file.close();
  }
}
