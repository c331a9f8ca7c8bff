import type { KeyRecord, TokenRecord } from '../credentials/credential-records.js';
import { toCaller } from './caller-of-request.js';
import type { Caller } from '../credentials/caller.js';

interface Known {
  readonly key: KeyRecord;
  readonly caller: Caller;
  /** When the user's Premium ends, in milliseconds since the epoch. */
  readonly until: number;
}

/** Callers by the records that they are made of: the same objects as long as the records are cached. */
export class Callers {
  private readonly known = new WeakMap<KeyRecord | TokenRecord, Known>();

  /** Needs records that were found valid. */
  of(key: KeyRecord, token: TokenRecord | undefined): Caller {
    const known = this.known.get(token ?? key);
    if (known !== undefined && known.key === key && Date.now() < known.until) return known.caller;
    const caller = toCaller(key, token);
    const premiumUntil = (token?.user ?? key.user)?.premiumUntil ?? null;
    const until = caller.isPremium && premiumUntil !== null ? premiumUntil : Infinity;
    this.known.set(token ?? key, { key, caller, until });
    return caller;
  }
}
