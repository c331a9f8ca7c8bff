/** What one client may ask for; a flood from one must leave room for the others. */
export interface DnsLimits {
  /** Questions under way, of all clients. */
  pending: number;
  pendingPerClient: number;
  /** Questions a second of one client, over time; twice as many at once. */
  ratePerClient: number;
  /** Clients remembered; the one longest quiet makes room. */
  clients: number;
}

export const DEFAULT_DNS_LIMITS: DnsLimits = {
  pending: 2048,
  pendingPerClient: 512,
  ratePerClient: 2000,
  clients: 4096,
};

interface Client {
  pending: number;
  /** Questions that it may still ask at this moment. */
  tokens: number;
  /** When `tokens` was right, in milliseconds. */
  at: number;
}

/** Counts the questions of each client address. */
export class ClientLimits {
  readonly #limits: DnsLimits;
  readonly #now: () => number;
  /** Longest quiet first. */
  readonly #clients = new Map<string, Client>();
  #pending = 0;

  constructor(limits: DnsLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** False for a client that asks too fast. */
  admits(address: string): boolean {
    const client = this.#client(address);
    if (client.tokens < 1) return false;
    client.tokens -= 1;
    return true;
  }

  /** Runs the work if there is room for one more; null if there is none. */
  run<T>(address: string, work: () => Promise<T>): Promise<T> | null {
    const client = this.#client(address);
    const { pending, pendingPerClient } = this.#limits;
    if (this.#pending >= pending || client.pending >= pendingPerClient) return null;
    this.#pending++;
    client.pending++;
    return work().finally(() => {
      this.#pending--;
      client.pending--;
    });
  }

  #client(address: string): Client {
    const { ratePerClient, clients } = this.#limits;
    const now = this.#now();
    const known = this.#clients.get(address);
    const client = known ?? { pending: 0, tokens: 2 * ratePerClient, at: now };
    client.tokens = Math.min(2 * ratePerClient, client.tokens + ((now - client.at) * ratePerClient) / 1000);
    client.at = now;
    this.#clients.delete(address);
    const oldest = this.#clients.size >= clients ? this.#clients.keys().next().value : undefined;
    if (oldest !== undefined) this.#clients.delete(oldest);
    this.#clients.set(address, client);
    return client;
  }
}
