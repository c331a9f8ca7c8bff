import { networkOf } from '@gatehouse/net';

/** The limits of one client, so that a flood from one leaves room for the others. */
export interface DnsLimits {
  /** Questions under way, of all clients together. */
  pending: number;
  pendingPerClient: number;
  /** Questions a second of one client on average; twice as many in a burst. */
  ratePerClient: number;
  /** Bytes a second of UDP replies to one client whose address may be forged, on average; twice as many in a burst. */
  bytesPerClient: number;
  /** The most clients remembered; the one that was idle longest is dropped first. */
  clients: number;
}

export const DEFAULT_DNS_LIMITS: DnsLimits = {
  pending: 2048,
  pendingPerClient: 512,
  ratePerClient: 2000,
  bytesPerClient: 128 * 1024,
  clients: 4096,
};

interface Client {
  pending: number;
  /** Questions that it may ask now. */
  tokens: number;
  /** Bytes that it may be sent now. */
  bytes: number;
  /** The time of `tokens` and `bytes`, in milliseconds. */
  at: number;
}

/** Limits the questions of each client: an IPv4 address or an IPv6 network of 64 bits. */
export class ClientLimits {
  readonly #limits: DnsLimits;
  readonly #now: () => number;
  /** In order of their last question. */
  readonly #clients = new Map<string, Client>();
  #pending = 0;

  constructor(limits: DnsLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** False for a client that asks too often. */
  admits(address: string): boolean {
    const client = this.#client(address);
    if (client.tokens < 1) return false;
    client.tokens -= 1;
    return true;
  }

  /** False for a reply that would exceed the client's limit. */
  affords(address: string, bytes: number): boolean {
    const client = this.#client(address);
    if (client.bytes < bytes) return false;
    client.bytes -= bytes;
    return true;
  }

  /** Runs the work if there is room for one more question; null if there is none. */
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
    const { ratePerClient, bytesPerClient, clients } = this.#limits;
    const now = this.#now();
    const network = networkOf(address);
    const known = this.#clients.get(network);
    const client = known ?? { pending: 0, tokens: 2 * ratePerClient, bytes: 2 * bytesPerClient, at: now };
    const seconds = (now - client.at) / 1000;
    client.tokens = Math.min(2 * ratePerClient, client.tokens + seconds * ratePerClient);
    client.bytes = Math.min(2 * bytesPerClient, client.bytes + seconds * bytesPerClient);
    client.at = now;
    this.#clients.delete(network);
    const oldest = this.#clients.size >= clients ? this.#clients.keys().next().value : undefined;
    if (oldest !== undefined) this.#clients.delete(oldest);
    this.#clients.set(network, client);
    return client;
  }
}
