/** An address that may use a raw tunnel. Others behind the same address (NAT) may, too. */
export interface VisitorGrant {
  readonly tunnelId: number;
  /** In canonical text: one address, not a network. */
  readonly address: string;
  readonly policyId: number;
  readonly policyVersion: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** Valid for one connection only. */
  readonly once: boolean;
}

export type GrantKey = Pick<VisitorGrant, 'tunnelId' | 'address' | 'policyId'>;
/** `grant` null: used up. */
export type GrantChange = GrantKey & { readonly grant: VisitorGrant | null };

/** The store of grants. It is consulted for each connection, so it must answer from memory. */
export interface GrantStore {
  get(key: GrantKey): VisitorGrant | undefined;
  put(grant: VisitorGrant): void;
  remove(key: GrantKey): void;
}

const MAX_GRANTS = 100_000;
const MAX_CHANGES = 10_000;

/**
 * Grants in memory. Processes that share visitors exchange changes: what `takeChanges` returns in one goes to `receive`
 * in the others. A single-use grant may be used in two processes until they have exchanged it.
 */
export class MemoryGrantStore implements GrantStore {
  private readonly grants = new Map<string, VisitorGrant>();
  private changes = new Map<string, GrantChange>();
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  get size(): number {
    return this.grants.size;
  }

  get(key: GrantKey): VisitorGrant | undefined {
    const text = keyOf(key);
    const grant = this.grants.get(text);
    if (!grant || grant.until > this.now()) return grant;
    this.grants.delete(text);
    return undefined;
  }

  put(grant: VisitorGrant): void {
    this.store(grant);
    this.note(grant, grant);
  }

  remove(key: GrantKey): void {
    if (this.grants.delete(keyOf(key))) this.note(key, null);
  }

  /** Changes made here since the last call. */
  takeChanges(): GrantChange[] {
    const changes = [...this.changes.values()];
    this.changes = new Map();
    return changes;
  }

  /** Applies changes made elsewhere. Changes made here that were not sent yet are newer: a used grant stays used. */
  receive(changes: readonly GrantChange[]): void {
    for (const change of changes) {
      if (this.changes.has(keyOf(change))) continue;
      if (change.grant) this.store(change.grant);
      else this.grants.delete(keyOf(change));
    }
  }

  /** Replaces all grants, except for changes made here that were not sent yet. */
  replace(grants: readonly VisitorGrant[]): void {
    for (const key of this.grants.keys()) if (!this.changes.has(key)) this.grants.delete(key);
    this.receive(grants.map((grant) => ({ ...grant, grant })));
  }

  /** Puts back changes that could not be sent; later changes are newer. */
  restore(changes: readonly GrantChange[]): void {
    const later = this.changes;
    this.changes = new Map();
    for (const change of changes) this.note(change, change.grant);
    for (const change of later.values()) this.note(change, change.grant);
  }

  /** All valid grants, for a process that starts. */
  list(): VisitorGrant[] {
    return [...this.grants.values()].filter(({ until }) => until > this.now());
  }

  private store(grant: VisitorGrant): void {
    const key = keyOf(grant);
    this.grants.delete(key);
    this.grants.set(key, grant);
    if (this.grants.size > MAX_GRANTS) drop(this.grants);
  }

  private note({ tunnelId, address, policyId }: GrantKey, grant: VisitorGrant | null): void {
    this.changes.set(keyOf({ tunnelId, address, policyId }), { tunnelId, address, policyId, grant });
    if (this.changes.size > MAX_CHANGES) drop(this.changes);
  }
}

function keyOf({ tunnelId, address, policyId }: GrantKey): string {
  return `${tunnelId} ${policyId} ${address}`;
}

function drop(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
