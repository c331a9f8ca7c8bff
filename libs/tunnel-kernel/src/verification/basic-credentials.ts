import type { Guess, GuessLimit } from '@gatehouse/net';
import type { VisitorPolicyConfig } from '../config.js';
import type { PasswordAsker, PasswordChecks } from './password-checks.js';
import type { ProofSigner } from './proof-signer.js';

export interface Credentials {
  user: string;
  password: string;
}

/** `limited`: not checked, whether right or wrong; seconds until the next try. */
export type CredentialVerdict = { policy: VisitorPolicyConfig } | 'wrong' | { limited: number };

interface Known {
  until: number;
  fits: Promise<boolean>;
}

const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 4096;
const MAX_HEADER = 4096;

/** `Authorization` or `Proxy-Authorization` of RFC 7617; null for anything else, including two of them. */
export function parseBasic(header: string | undefined): Credentials | null {
  if (header === undefined || header.length > MAX_HEADER) return null;
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** User names and passwords of policies of type `basic`. */
export class BasicCredentials {
  private readonly checks: PasswordChecks;
  private readonly signer: ProofSigner;
  private readonly guesses: GuessLimit;
  private readonly now: () => number;
  private readonly users = new WeakMap<VisitorPolicyConfig, ReadonlyMap<string, string>>();
  /** Earlier results, keyed by HMAC: a memory dump reveals no password, and a change of the policy invalidates them. */
  private readonly known = new Map<string, Known>();

  constructor(checks: PasswordChecks, signer: ProofSigner, guesses: GuessLimit, now: () => number) {
    this.checks = checks;
    this.signer = signer;
    this.guesses = guesses;
    this.now = now;
  }

  /**
   * The limit applies before anything else, also to remembered results: an address that guesses gets the same answer
   * for a right and a wrong password. Repeating a pair that is known to be wrong does not count as another guess.
   * @throws TunnelError `overloaded`
   */
  async check(
    policies: readonly VisitorPolicyConfig[],
    credentials: Credentials,
    address: string,
  ): Promise<CredentialVerdict> {
    let verdict: CredentialVerdict = 'wrong';
    for (const policy of policies) {
      if (policy.type !== 'basic') continue;
      const guess = { scope: policy.id, address, account: credentials.user };
      const limited = this.guesses.secondsToWait(guess);
      if (limited > 0) verdict = { limited };
      else if (await (this.recall(policy, credentials) ?? this.look(policy, credentials, guess))) return { policy };
    }
    return verdict;
  }

  private recall(policy: VisitorPolicyConfig, credentials: Credentials): Promise<boolean> | null {
    const known = this.known.get(this.keyOf(policy, credentials));
    return known && known.until > this.now() ? known.fits : null;
  }

  private look(policy: VisitorPolicyConfig, credentials: Credentials, guess: Guess): Promise<boolean> {
    this.guesses.acquire(guess);
    const key = this.keyOf(policy, credentials);
    const fits = this.compare(credentials, { policy, address: guess.address });
    this.known.delete(key);
    this.known.set(key, { until: this.now() + REMEMBERED_MS, fits });
    const [oldest] = this.known.keys();
    if (this.known.size > MAX_REMEMBERED && oldest !== undefined) this.known.delete(oldest);
    fits.then(
      (right) => right && this.guesses.succeed(guess),
      () => {
        this.known.delete(key);
        this.guesses.release(guess);
      },
    );
    return fits;
  }

  /** An unknown name takes as long as a wrong password. */
  private async compare({ user, password }: Credentials, asker: PasswordAsker): Promise<boolean> {
    const users = this.usersOf(asker.policy);
    const encoded = users.get(user);
    const [anybody = ''] = users.values();
    const fits = await this.checks.check(encoded ?? anybody, password, asker);
    return fits && encoded !== undefined;
  }

  private usersOf(policy: VisitorPolicyConfig): ReadonlyMap<string, string> {
    const known = this.users.get(policy);
    if (known) return known;
    const users = new Map<string, string>();
    for (const line of (policy.password ?? '').split('\n')) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon);
      if (colon > 0 && !users.has(name)) users.set(name, line.slice(colon + 1).trim());
    }
    this.users.set(policy, users);
    return users;
  }

  private keyOf({ id, version }: VisitorPolicyConfig, { user, password }: Credentials): string {
    return this.signer.digest('basic', JSON.stringify([id, version, user, password]));
  }
}
