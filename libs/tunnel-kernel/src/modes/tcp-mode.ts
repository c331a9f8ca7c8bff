import type { Socket } from 'node:net';
import { relay, resetStream, type ByteStream } from '@gatehouse/net';
import type { Lease } from '../access/gate.js';
import type { TunnelConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import type { ResourceRef } from '../resource.js';
import type { StartOf } from '../session/channel-source.js';
import { endpoint } from './endpoint.js';
import type { Entrance, ModeContext, ServerMode } from './mode.js';
import { TcpEntrance } from './tcp-entrance.js';

/** A visitor's bytes through a data channel, both ways: modes `tcp` and `file`. */
export class TcpMode implements ServerMode {
  private readonly context: ModeContext;

  constructor(context: ModeContext) {
    this.context = context;
  }

  entrance(tunnel: () => TunnelConfig, onFailure: (error: Error) => void): Entrance {
    return new TcpEntrance(tunnel().listen, (socket) => this.accept(tunnel(), socket), onFailure);
  }

  /** A visitor that cannot be served is reset. */
  private accept(tunnel: TunnelConfig, visitor: Socket): void {
    const { gate, verifier, logger } = this.context;
    const resource: ResourceRef = { kind: 'tunnel', id: tunnel.id };
    const from = endpoint(visitor.remoteAddress, visitor.remotePort);
    const lease = gate.enter(resource, tunnel.clientId, from.address);
    if (typeof lease === 'string') {
      logger.debug('a visitor was refused', { tunnel: tunnel.id, reason: lease });
      return resetStream(visitor);
    }
    visitor.on('close', () => lease.release());
    const allowed = verifier.allows(resource, tunnel.clientId, from);
    if (allowed === true) this.serve(tunnel, visitor, lease);
    else void this.serveVerified(tunnel, visitor, lease, allowed);
  }

  private async serveVerified(
    tunnel: TunnelConfig,
    visitor: Socket,
    lease: Lease,
    allowed: boolean | Promise<boolean>,
  ): Promise<void> {
    if (await allowed) this.serve(tunnel, visitor, lease);
    else this.refuse(tunnel, visitor, new TunnelError('unauthorized', 'the visitor is not verified'));
  }

  private serve(tunnel: TunnelConfig, visitor: Socket, _lease: Lease): void {
    const { channels } = this.context;
    const start: StartOf = {
      kind: 'tunnel',
      id: tunnel.id,
      target: null,
      destination: '',
      visitor: endpoint(visitor.remoteAddress, visitor.remotePort),
      entrance: endpoint(visitor.localAddress, visitor.localPort),
    };
    try {
      const stream = channels.take(tunnel.clientId, start);
      if (stream) this.join(tunnel, visitor, start, stream);
      else void this.joinLater(tunnel, visitor, start);
    } catch (error) {
      this.refuse(tunnel, visitor, error);
    }
  }

  private async joinLater(tunnel: TunnelConfig, visitor: Socket, start: StartOf): Promise<void> {
    try {
      this.join(tunnel, visitor, start, await this.context.channels.open(tunnel.clientId, start));
    } catch (error) {
      this.refuse(tunnel, visitor, error);
    }
  }

  private join(tunnel: TunnelConfig, visitor: Socket, start: StartOf, stream: ByteStream): void {
    const { ledger } = this.context;
    const flow = ledger.open({ kind: 'tunnel', id: tunnel.id }, tunnel.clientId, start.visitor);
    // The agent's answer is not waited for: the visitor's first bytes follow the start.
    flow.handle = relay(visitor, stream, flow.counter, { onClose: (end) => ledger.close(flow, end) });
  }

  private refuse(tunnel: TunnelConfig, visitor: Socket, error: unknown): void {
    resetStream(visitor);
    if (!(error instanceof TunnelError)) throw error;
    const { code, message } = error;
    this.context.logger.debug('a visitor was refused', { tunnel: tunnel.id, code, reason: message });
  }
}
