/**
 * When a call is tried again.
 *
 * Every call of this client is safe to repeat, so it is repeated when nothing came back (a lost answer included), when
 * the server asks to come back later, and when servers ran into each other. What a caller has to correct or wait for
 * on purpose (a running flush) is not repeated.
 */

import { setTimeout as wait } from "node:timers/promises";

import { CondenseError, errorOf, QuotaExceededError, RevisionConflictError, UnavailableError } from "./errors.js";

/** How often, and how long to wait. */
export interface RetryPolicy {
  /** 1: never again. */
  readonly maxAttempts: number;
  /** The wait doubles each time, and a server's own wish is honoured. */
  readonly firstDelayMs: number;
  /** A server that asks for more gets no further try: the error is the caller's. */
  readonly maxDelayMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { maxAttempts: 4, firstDelayMs: 100, maxDelayMs: 10_000 };
export const NEVER_RETRY: RetryPolicy = { ...DEFAULT_RETRY, maxAttempts: 1 };

/** How long to wait after the failed attempt number `attempt` (from 1); undefined: do not try again. */
export function findDelayMs(policy: RetryPolicy, attempt: number, error: CondenseError): number | undefined {
  const wish = error.retryAfterMs ?? 0;
  const isTransient =
    error instanceof UnavailableError ||
    error instanceof RevisionConflictError ||
    (error instanceof QuotaExceededError && error.retryAfterMs !== undefined);
  if (!isTransient || attempt >= policy.maxAttempts || wish > policy.maxDelayMs) {
    return undefined;
  }
  const delay = Math.min(policy.firstDelayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  return Math.max(delay * (0.5 + Math.random() / 2), wish);
}

/** Runs `attempt` until it succeeds or the policy gives up, and then throws its last error. */
export async function withRetries<R>(policy: RetryPolicy, signal: AbortSignal, attempt: () => Promise<R>): Promise<R> {
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (failure) {
      const error = errorOf(failure, signal);
      const delay = findDelayMs(policy, number, error);
      if (delay === undefined) {
        throw error;
      }
      await wait(delay, undefined, { signal }).catch((aborted: unknown) => {
        throw errorOf(aborted, signal);
      });
    }
  }
}
