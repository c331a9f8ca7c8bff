import { cidrContains, guarded, hostCidr, parseCidr, parseIp, type Cidr } from '@gatehouse/net';
import type { FlowControls } from '../accounting/connection-entry.js';
import {
  KernelConfigError,
  UserLimitError,
  type ConnectionMetadata,
  type ProxyUserConfig,
  type UserLimits,
} from '../interfaces/index.js';
import { UserThrottle, type TrafficLimits } from './user-throttle.js';

/** The limits of one user. Flows keep it, so changed limits act on them too. */
export class UserAccount {
  readonly #onSpent: () => void;
  #limits: UserLimits = {};
  #addresses: readonly Cidr[] = [];
  #throttle: UserThrottle | null = null;

  constructor(onSpent: () => void) {
    this.#onSpent = onSpent;
  }

  /** Null: neither rate nor traffic is limited. */
  get throttle(): UserThrottle | null {
    return this.#throttle;
  }

  get maxConnections(): number {
    return this.#limits.maxConnections ?? Infinity;
  }

  /** @param addresses those of the limits, parsed. */
  change(limits: UserLimits, addresses: readonly Cidr[]): void {
    this.#limits = limits;
    this.#addresses = addresses;
    const { rateLimit: rate = Infinity, trafficLeft: left = Infinity } = limits;
    const isLimited = rate !== Infinity || left !== Infinity;
    if (isLimited && this.#throttle) this.#throttle.change({ rate, left });
    else this.#setThrottle(isLimited ? { rate, left } : null);
  }

  /** When it expires; Infinity: not after `now`. */
  expiresAfter(now: number): number {
    const { expiresAt = Infinity } = this.#limits;
    return expiresAt > now ? expiresAt : Infinity;
  }

  /** Why the user may not use the proxy from this address now, for the user; null: it may. */
  refusal(now: number, sourceIp: string): string | null {
    if (now >= (this.#limits.expiresAt ?? Infinity)) return 'this user has expired';
    if (this.#throttle?.isSpent) return 'this user has used up its traffic';
    return this.#allows(sourceIp) ? null : 'this user may not connect from this address';
  }

  #setThrottle(limits: TrafficLimits | null): void {
    // Whoever still waits in the former one continues without a limit.
    this.#throttle?.change({ rate: Infinity, left: Infinity });
    this.#throttle = limits && new UserThrottle(limits, this.#onSpent);
  }

  #allows(sourceIp: string): boolean {
    if (this.#limits.allowedAddresses === undefined) return true;
    const address = parseIp(sourceIp);
    return address !== null && this.#addresses.some((network) => cidrContains(network, address));
  }
}

/** A flow, as far as the limits of its user act on it. */
export interface UserFlow {
  readonly metadata: Pick<ConnectionMetadata, 'inboundUser' | 'sourceIp'>;
  readonly controls: FlowControls;
}

export interface UserAccountsParts {
  now(): number;
  /** Those that are open. */
  flows(): readonly UserFlow[];
}

/** The users of the present configuration. */
export class UserAccounts {
  readonly #parts: UserAccountsParts;
  #names: ReadonlySet<string> = new Set();
  readonly #limited = new Map<string, UserAccount>();
  /** When the next of them expires. */
  #nextExpiry = Infinity;

  constructor(parts: UserAccountsParts) {
    this.#parts = parts;
  }

  /** Null: a user without limits. */
  of(user: string | null): UserAccount | null {
    return user === null ? null : (this.#limited.get(user) ?? null);
  }

  /**
   * Checks a flow that begins. @param open the open flows of its user, with this one.
   * @throws UserLimitError.
   */
  check({ inboundUser, sourceIp }: UserFlow['metadata'], open: number): void {
    const account = this.of(inboundUser);
    const refusal = account?.refusal(this.#parts.now(), sourceIp) ?? null;
    if (refusal !== null) throw new UserLimitError(refusal);
    const { maxConnections: most = Infinity } = account ?? {};
    if (open > most) throw new UserLimitError(`this user may have ${most} connections at the same time`, true);
  }

  /** Checks everything before anything changes. @throws KernelConfigError. */
  prepare(users: readonly ProxyUserConfig[]): () => void {
    const limited = users.flatMap(({ username, limits }) =>
      limits ? [{ username, limits, addresses: readAddresses(username, limits) }] : [],
    );
    return () => {
      this.#names = new Set(users.map(({ username }) => username));
      const kept = new Set(limited.map(({ username }) => username));
      for (const [username, account] of this.#limited) {
        if (kept.has(username)) continue;
        account.change({}, []);
        this.#limited.delete(username);
      }
      for (const { username, limits, addresses } of limited) {
        const account = this.#limited.get(username) ?? new UserAccount(() => this.#spent());
        account.change(limits, addresses);
        this.#limited.set(username, account);
      }
      this.#enforce();
    };
  }

  /** Ends the flows of users that have expired since the last call. */
  endExpired(): void {
    if (this.#parts.now() >= this.#nextExpiry) this.#enforce();
  }

  /** In a turn of its own, since a flow that is just sending reports it. */
  #spent(): void {
    setImmediate(guarded(null, () => this.#enforce()));
  }

  /** Ends the flows whose users may no longer have them, and gives the others the present rate. */
  #enforce(): void {
    const now = this.#parts.now();
    this.#nextExpiry = Infinity;
    for (const account of this.#limited.values()) {
      this.#nextExpiry = Math.min(this.#nextExpiry, account.expiresAfter(now));
    }
    for (const { metadata, controls } of this.#parts.flows()) {
      const { inboundUser: user, sourceIp } = metadata;
      if (user === null) continue;
      const account = this.of(user);
      if (this.#exists(user) && !account?.refusal(now, sourceIp)) controls.limit(account?.throttle ?? null);
      else controls.close('user_limit');
    }
  }

  /** While no user is configured no login is needed, and nobody is removed. */
  #exists(user: string): boolean {
    return this.#names.size === 0 || this.#names.has(user);
  }
}

function readAddresses(username: string, { allowedAddresses = [] }: UserLimits): Cidr[] {
  return allowedAddresses.map((text) => {
    const address = parseIp(text);
    const network = address ? hostCidr(address) : parseCidr(text);
    if (network === null) throw new KernelConfigError(`users.${username}.allowedAddresses`, `${text} is no address`);
    return network;
  });
}
