import { Socket } from 'node:net';
import type { ByteStream } from '@gatehouse/net';
import type { OwnServiceConnection } from '../interfaces/index.js';

/** A service may handle a connection long after the kernel has closed its end. */
const KEEP_CLOSED_MS = 60_000;
const MAX_CLOSED = 4_096;
/** How far the clocks of the two processes may differ. */
const SLACK_MS = 1_000;

interface Closed {
  readonly client: string;
  readonly closedAt: number;
}

/**
 * The clients of connections that the kernel opened to the platform's own services. To a service all of these come from
 * this machine; it asks here for the client, with the addresses and ports of both ends.
 */
export class OwnServiceClients {
  private readonly now: () => number;
  private readonly open = new Map<string, string>();
  /** In the order in which they were closed. */
  private readonly closed = new Map<string, Closed>();

  constructor(now: () => number) {
    this.now = now;
  }

  /** Records a connection from this machine to an own service, opened for `client`. */
  note(remote: ByteStream, client: string): void {
    if (!(remote instanceof Socket) || remote.localAddress === undefined || remote.destroyed) return;
    const key = keyOf(
      { address: remote.localAddress, port: remote.localPort ?? 0 },
      { address: remote.remoteAddress ?? '', port: remote.remotePort ?? 0 },
    );
    this.closed.delete(key);
    this.open.set(key, client);
    remote.once('close', () => this.end(key, client));
  }

  /** The client's address, or null if the connection is not the kernel's. */
  find({ from, to, ageMs }: OwnServiceConnection): string | null {
    const key = keyOf(from, to);
    const client = this.open.get(key);
    if (client !== undefined) return client;
    const closed = this.closed.get(key);
    // By now the system may have given the port to another process.
    return closed && closed.closedAt >= this.now() - ageMs - SLACK_MS ? closed.client : null;
  }

  private end(key: string, client: string): void {
    this.open.delete(key);
    this.closed.set(key, { client, closedAt: this.now() });
    for (const [oldest, { closedAt }] of this.closed) {
      if (this.closed.size <= MAX_CLOSED && closedAt >= this.now() - KEEP_CLOSED_MS) return;
      this.closed.delete(oldest);
    }
  }
}

function keyOf(from: OwnServiceConnection['from'], to: OwnServiceConnection['to']): string {
  return `${plain(from.address)} ${from.port} ${plain(to.address)} ${to.port}`;
}

/** A dual-stack listener shows IPv4 addresses as IPv6. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
}
