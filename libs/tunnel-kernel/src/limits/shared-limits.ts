/** How often servers compare what their clients use. */
export const SHARE_MS = 250;
const PER_SECOND = 1000 / SHARE_MS;
/** How much more a server that is below its share may use before it reports that. */
const ROOM = 1.25;
const UNUSED_RATE = { rate: 0, delayed: false };

/** One server's use of the limits of a client or tunnel. */
export interface ClientUse {
  /** The key of `RateLimits`, which is the id for clients. */
  clientId: number;
  /** Connections of visitors. */
  connections: number;
  /** Bytes per second. */
  rate: number;
  /** Whether the rate limit delays visitors. */
  delayed: boolean;
}

/** The clients with limits at this server. */
export interface LimitedClients {
  /** Number of a client's connections; 0 if their number has no limit. */
  connectionsOf(clientId: number): number;
  /** Each client with a rate limit: its limit in bytes per second, and what it used since the last call. */
  rates(): Iterable<{ clientId: number; limit: number; bytes: number; delayed: boolean }>;
  /** Sets what this server may use of a client's rate limit: bytes per second. */
  setRate(clientId: number, bytesPerSecond: number): void;
}

/**
 * Makes the limits of a client one limit over all servers of a gateway: each sends the others what its visitors use,
 * subtracts what they use, and forgets a server with its link. Connections may exceed their limit by those that
 * arrive at several servers within the time of one message; rates are settled after two turns.
 */
export class SharedLimits {
  private readonly clients: LimitedClients;
  /** What each other server uses. */
  private readonly others = new Map<unknown, Map<number, ClientUse>>();
  /** What this server uses, as the others know it. */
  private readonly sent = new Map<number, ClientUse>();
  private readonly rates = new Map<number, Pick<ClientUse, 'rate' | 'delayed'>>();
  private readonly changed = new Set<number>();
  /** Called when `changes` has something. Null: there are no other servers. */
  onChange: (() => void) | null = null;

  constructor(clients: LimitedClients) {
    this.clients = clients;
  }

  /** Connections of the client's visitors at other servers. */
  connectionsElsewhere(clientId: number): number {
    let total = 0;
    for (const uses of this.others.values()) total += uses.get(clientId)?.connections ?? 0;
    return total;
  }

  /** A connection of a client with a limit came or ended. */
  connectionsChanged(clientId: number): void {
    if (!this.onChange) return;
    this.changed.add(clientId);
    this.onChange();
  }

  /** Divides the rates; must be called every `SHARE_MS` while there are other servers. */
  turn(): void {
    for (const { clientId, limit, bytes, delayed } of this.clients.rates()) {
      if (bytes > 0 || delayed) this.rates.set(clientId, { rate: Math.round(bytes * PER_SECOND), delayed });
      else this.rates.delete(clientId);
      if (bytes > 0 || delayed || this.sent.has(clientId)) this.changed.add(clientId);
      this.clients.setRate(clientId, this.rateFor(clientId, limit));
    }
    if (this.changed.size > 0) this.onChange?.();
  }

  /** What has changed since the last call, for all other servers. */
  changes(): ClientUse[] {
    const changes: ClientUse[] = [];
    for (const clientId of this.changed) {
      const { rate, delayed } = this.rates.get(clientId) ?? UNUSED_RATE;
      const use = { clientId, connections: this.clients.connectionsOf(clientId), rate, delayed };
      if (isSame(use, this.sent.get(clientId) ?? { clientId, connections: 0, ...UNUSED_RATE })) continue;
      changes.push(use);
      if (isUnused(use)) this.sent.delete(clientId);
      else this.sent.set(clientId, use);
    }
    this.changed.clear();
    return changes;
  }

  /** Everything that the others know, for a server that was just connected. */
  all(): ClientUse[] {
    return [...this.sent.values()];
  }

  /** Another server has sent what changed there. */
  receive(server: unknown, changes: readonly ClientUse[]): void {
    const uses = this.others.get(server) ?? new Map<number, ClientUse>();
    this.others.set(server, uses);
    for (const use of changes) {
      if (isUnused(use)) uses.delete(use.clientId);
      else uses.set(use.clientId, use);
    }
  }

  /** The other server has ended, or is not reached: its visitors do not count here. */
  left(server: unknown): void {
    this.others.delete(server);
  }

  /**
   * What others do not use, divided among the servers whose visitors are delayed and this one; at least an equal share of
   * the limit among all that have traffic.
   */
  private rateFor(clientId: number, limit: number): number {
    let used = 0;
    let delayed = 0;
    let busy = 0;
    for (const uses of this.others.values()) {
      const use = uses.get(clientId);
      if (!use || (use.rate === 0 && !use.delayed)) continue;
      busy += 1;
      if (use.delayed) delayed += 1;
      else used += use.rate * ROOM;
    }
    if (busy === 0) return limit;
    return Math.max(limit / (busy + 1), (limit - used) / (delayed + 1));
  }
}

function isUnused({ connections, rate, delayed }: ClientUse): boolean {
  return connections === 0 && rate === 0 && !delayed;
}

function isSame(a: ClientUse, b: ClientUse): boolean {
  return a.connections === b.connections && a.rate === b.rate && a.delayed === b.delayed;
}
