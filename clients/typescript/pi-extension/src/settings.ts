/** Where the service is, and how sessions are configured: flags of Pi, or variables of the environment. */

import { configFromJson, type SessionOptions } from "@condense-grpc/client";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const TARGET = "condense-target";

/** What the extension works with. */
export interface Settings {
  /** `host:port`, or `https://host:port`. */
  readonly target: string;
  /** Sent as a bearer. */
  readonly token: string | undefined;
  /** For sessions that do not exist yet. */
  readonly config: SessionOptions["config"];
}

/** Makes the flag known to Pi. */
export function registerFlags(pi: ExtensionAPI): void {
  pi.registerFlag(TARGET, {
    description: "Address of the condense_grpc service (default 127.0.0.1:50051)",
    type: "string",
  });
}

/** The settings as they are when a session starts. Throws if `CONDENSE_CONFIG` is no configuration. */
export function readSettings(pi: ExtensionAPI, environment: NodeJS.ProcessEnv = process.env): Settings {
  const target = pi.getFlag(TARGET) || environment["CONDENSE_TARGET"] || "127.0.0.1:50051";
  return {
    target: String(target),
    token: environment["CONDENSE_TOKEN"],
    config: configOf(environment["CONDENSE_CONFIG"]),
  };
}

function configOf(text: string | undefined): SessionOptions["config"] {
  if (!text) {
    return {};
  }
  try {
    return configFromJson(JSON.parse(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`CONDENSE_CONFIG has to be JSON such as {"minBatchChars": 500}: ${why}`);
  }
}
