import type { CallingCredential, ClientRecord, TokenRecord } from '../credentials/credential-records.js';
import { toCaller, toCredential } from './caller-of-request.js';
import type { Caller } from '../credentials/caller.js';

interface Known {
  readonly credential: CallingCredential;
  readonly caller: Caller;
  /** When the user's Premium ends, in milliseconds since the epoch. */
  readonly until: number;
}

/** Callers by the records that they are made of: the same objects as long as the records are cached. */
export class Callers {
  private readonly known = new WeakMap<CallingCredential | TokenRecord, Known>();
  private readonly withoutKey = new WeakMap<ClientRecord, CallingCredential>();

  /** Needs records that were found valid. */
  of(credential: CallingCredential, token: TokenRecord | undefined): Caller {
    const known = this.known.get(token ?? credential);
    if (known !== undefined && known.credential === credential && Date.now() < known.until) return known.caller;
    const caller = toCaller(credential, token);
    const premiumUntil = (token?.user ?? credential.user)?.premiumUntil ?? null;
    const until = caller.isPremium && premiumUntil !== null ? premiumUntil : Infinity;
    this.known.set(token ?? credential, { credential, caller, until });
    return caller;
  }

  /** The credential of an application that sent no key. */
  credentialOf(client: ClientRecord): CallingCredential {
    const known = this.withoutKey.get(client);
    if (known !== undefined) return known;
    const made = toCredential(client);
    this.withoutKey.set(client, made);
    return made;
  }
}
