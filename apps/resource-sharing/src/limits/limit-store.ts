/** Asks for some of the tokens of a key: `burst` at once, one more every `intervalMs` (GCRA). */
export interface TokenRequest {
  readonly key: string;
  readonly intervalMs: number;
  readonly burst: number;
  /** At most `burst`. */
  readonly cost: number;
}

export interface TokenAnswer {
  readonly granted: number;
  /** What there was before. */
  readonly room: number;
  /** Milliseconds until the key is as good as new. */
  readonly aheadMs: number;
}

/** One more of each daily quota. */
export interface QuotaRequest {
  readonly keys: readonly string[];
  readonly limits: readonly number[];
  readonly day: string;
}

export interface Admission {
  /** In the order of the requests. None is granted where the tokens or a quota do not suffice. */
  readonly tokens: readonly TokenAnswer[];
  /** Index of a quota that is used up; undefined when all was counted, or the tokens were refused before. */
  readonly exceeded: number | undefined;
}

/** Tokens that all replicas share. */
export abstract class LimitStore {
  /** Calls of this process are being admitted now: they will soon go on. */
  get admitting(): boolean {
    return false;
  }

  /** As many as there are of each, or with `all` everything or nothing. Keys differ. Rejects when the store is away. */
  abstract take(requests: readonly TokenRequest[], all: boolean): Promise<TokenAnswer[]>;

  /** One token of each and one more of each quota, or nothing, in as few steps as the store can. */
  abstract admit(requests: readonly TokenRequest[], quota: QuotaRequest | undefined): Promise<Admission>;
}
