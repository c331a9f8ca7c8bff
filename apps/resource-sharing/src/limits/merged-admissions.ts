import type { Admission, QuotaRequest, TokenAnswer, TokenRequest } from './limit-store.js';

/** The needs of one call: one token of each key, and one more of each quota. */
export interface AdmissionRequest {
  readonly requests: readonly TokenRequest[];
  readonly quota: QuotaRequest | undefined;
}

interface KeyTokens {
  readonly key: string;
  readonly intervalMs: number;
  readonly burst: number;
  /** How many calls ask for one. */
  count: number;
}

interface QuotaCalls {
  readonly key: string;
  readonly day: string;
  readonly limit: number;
  count: number;
}

/** The needs of several calls together. */
export interface MergedAdmissions {
  readonly tokens: readonly KeyTokens[];
  readonly quotas: readonly QuotaCalls[];
  /** The answer of each call if all of them passed, given the state of each key after the last one in milliseconds. */
  readonly answer: (aheadsMs: readonly number[]) => Admission[];
}

export function mergeAdmissions(asked: readonly AdmissionRequest[]): MergedAdmissions {
  const tokens = new Map<string, KeyTokens>();
  const quotas = new Map<string, QuotaCalls>();
  for (const { requests, quota } of asked) {
    for (const request of requests) addTokens(tokens, request);
    if (quota !== undefined) addQuotas(quotas, quota);
  }
  const keys = [...tokens.values()];
  return {
    tokens: keys,
    quotas: [...quotas.values()],
    answer: (aheadsMs) => {
      const after = new Map(
        keys.map(({ key, intervalMs, count }, index) => {
          return [key, (aheadsMs[index] ?? 0) - count * intervalMs];
        }),
      );
      return asked.map(({ requests }) => ({
        tokens: requests.map((request) => next(after, request)),
        exceeded: undefined,
      }));
    },
  };
}

/** While a limit is being changed, calls may still know the previous one: the stricter one applies to all of them. */
function addTokens(tokens: Map<string, KeyTokens>, { key, intervalMs, burst }: TokenRequest): void {
  const known = tokens.get(key);
  tokens.set(key, {
    key,
    intervalMs: Math.max(intervalMs, known?.intervalMs ?? 0),
    burst: Math.min(burst, known?.burst ?? Infinity),
    count: (known?.count ?? 0) + 1,
  });
}

function addQuotas(quotas: Map<string, QuotaCalls>, { keys, limits, day }: QuotaRequest): void {
  keys.forEach((key, index) => {
    const id = `${day} ${key}`;
    const known = quotas.get(id);
    const limit = Math.min(limits[index] ?? 0, known?.limit ?? Infinity);
    quotas.set(id, { key, day, limit, count: (known?.count ?? 0) + 1 });
  });
}

/** The calls take their tokens one after another. */
function next(after: Map<string, number>, { key, intervalMs, burst }: TokenRequest): TokenAnswer {
  const before = after.get(key) ?? 0;
  after.set(key, before + intervalMs);
  return {
    granted: 1,
    room: Math.max(1, Math.floor(burst + 1e-6 - before / intervalMs)),
    aheadMs: before + intervalMs,
  };
}
