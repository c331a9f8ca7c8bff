import type { OtherNode } from '@gatehouse/contracts';
import type { ByteStream } from '@gatehouse/net';
import type { DialContext, Outbound, Target } from '../../interfaces/index.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { SshClientPool } from './client-pool.js';

/** An SSH server that forwards TCP (RFC 4254 7.2), by password or private key. */
export class SshOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'ssh';
  readonly udp = false;
  private readonly pool: SshClientPool;

  constructor(tag: string, node: OtherNode, dialer: ServerDialer) {
    this.tag = tag;
    this.pool = new SshClientPool(node, dialer);
  }

  connect(target: Target, context: DialContext): Promise<ByteStream> {
    return this.pool.connect(target, context);
  }

  close(): void {
    this.pool.close();
  }
}
