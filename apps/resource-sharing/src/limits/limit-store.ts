/** A request for some of the tokens of a key: `burst` at once, and one more every `intervalMs` (GCRA). */
export interface TokenRequest {
  readonly key: string;
  readonly intervalMs: number;
  readonly burst: number;
  /** At most `burst`. */
  readonly cost: number;
}

export interface TokenAnswer {
  readonly granted: number;
  /** Tokens before the request. */
  readonly room: number;
  /** Milliseconds until the budget of the key is full again. */
  readonly aheadMs: number;
}

/** Adds one to each daily quota. */
export interface QuotaRequest {
  readonly keys: readonly string[];
  readonly limits: readonly number[];
  readonly day: string;
}

export interface Admission {
  /** In the order of the requests. None is granted if the tokens or a quota are not sufficient. */
  readonly tokens: readonly TokenAnswer[];
  /** Index of a quota that is used up; undefined if all were counted, or the tokens were refused before. */
  readonly exceeded: number | undefined;
}

/** Tokens that all replicas share. */
export abstract class LimitStore {
  /** Calls of this process are being admitted now and will continue soon. */
  get admitting(): boolean {
    return false;
  }

  /**
   * Takes as many tokens as there are of each, or with `all` everything or nothing. Keys differ. Rejects while the
   * store is away.
   */
  abstract take(requests: readonly TokenRequest[], all: boolean): Promise<TokenAnswer[]>;

  /** Takes one token of each and adds one to each quota, or nothing, in as few steps as possible. */
  abstract admit(requests: readonly TokenRequest[], quota: QuotaRequest | undefined): Promise<Admission>;
}
