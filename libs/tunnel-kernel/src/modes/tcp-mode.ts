import type { Socket } from 'node:net';
import { relay, resetStream } from '@gatehouse/net';
import type { TunnelConfig } from '../config.js';
import type { TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import type { FlowLedger } from '../flow-ledger.js';
import type { Channel, ChannelPool } from '../session/channel-pool.js';
import { encodeStart, type Endpoint } from '../wire/prelude.js';

export interface TcpModeOptions {
  ledger: FlowLedger;
  logger: TunnelLogger;
  openMs: number;
  /** Null: no agent of the client is connected. */
  poolOf(clientId: number): ChannelPool | null;
}

/** The server's side of mode `tcp`: a visitor's bytes through a data channel, both ways. */
export class TcpMode {
  private readonly options: TcpModeOptions;

  constructor(options: TcpModeOptions) {
    this.options = options;
  }

  /** A visitor that cannot be served is reset. */
  accept(tunnel: TunnelConfig, visitor: Socket): void {
    const pool = this.options.poolOf(tunnel.clientId);
    const channel = pool?.take();
    if (channel) this.join(tunnel, visitor, channel);
    else if (pool) void this.joinLater(tunnel, visitor, pool);
    else this.refuse(tunnel, visitor, new TunnelError('offline', 'no agent is connected'));
  }

  private async joinLater(tunnel: TunnelConfig, visitor: Socket, pool: ChannelPool): Promise<void> {
    try {
      this.join(tunnel, visitor, await pool.wait(this.options.openMs));
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.refuse(tunnel, visitor, error);
    }
  }

  private join(tunnel: TunnelConfig, visitor: Socket, { stream, key }: Channel): void {
    const { ledger } = this.options;
    const from = endpoint(visitor.remoteAddress, visitor.remotePort);
    const entrance = endpoint(visitor.localAddress, visitor.localPort);
    const flow = ledger.open(tunnel.id, tunnel.clientId, from);
    if (!visitor.destroyed) stream.write(encodeStart({ tunnelId: tunnel.id, visitor: from, entrance }, key));
    // The agent's answer is not waited for: the visitor's first bytes follow the start.
    flow.handle = relay(visitor, stream, flow.counter, { onClose: (end) => ledger.close(flow, end) });
  }

  private refuse(tunnel: TunnelConfig, visitor: Socket, { code, message }: TunnelError): void {
    this.options.logger.debug('a visitor was refused', { tunnel: tunnel.id, code, reason: message });
    resetStream(visitor);
  }
}

/** The far end's address is unknown once it is gone. */
function endpoint(address = '0.0.0.0', port = 0): Endpoint {
  // A zone names an interface of this machine; it means nothing elsewhere.
  return { address: address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, ''), port };
}
