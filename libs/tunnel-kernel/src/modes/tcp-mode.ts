import type { Socket } from 'node:net';
import { guardPromise, resetStream, reuseMemory, type ByteStream } from '@gatehouse/net';
import type { TunnelConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import { relayFlow } from '../relay-flow.js';
import type { StartOf } from '../session/channel-source.js';
import type { AdmittedSocket } from './admission.js';
import type { Entrance, ModeContext, ServerMode } from './mode.js';
import { TcpEntrance } from './tcp-entrance.js';

/** Carries a visitor's bytes through a data channel in both directions: modes `tcp` and `file`. */
export class TcpMode implements ServerMode {
  private readonly context: ModeContext;

  constructor(context: ModeContext) {
    this.context = context;
  }

  entrance(tunnel: () => TunnelConfig, port: number, onFailure: (error: Error) => void): Entrance {
    const place = { host: tunnel().listen.host, port };
    return new TcpEntrance(this.context.sockets, place, (socket) => this.accept(tunnel(), socket), onFailure);
  }

  /** A visitor that cannot be served is reset. */
  private accept(tunnel: TunnelConfig, socket: Socket): void {
    this.context.admission.receive(tunnel, socket, { admitted: (visitor) => this.verify(tunnel, visitor) });
  }

  private verify(tunnel: TunnelConfig, visitor: AdmittedSocket): void {
    const allowed = this.context.verifier.allows(visitor.resource, visitor.clientId, visitor.visitor);
    if (allowed === true) this.serve(tunnel, visitor);
    else guardPromise(visitor.socket, this.serveVerified(tunnel, visitor, allowed));
  }

  private async serveVerified(
    tunnel: TunnelConfig,
    visitor: AdmittedSocket,
    allowed: boolean | Promise<boolean>,
  ): Promise<void> {
    if (await allowed) return this.serve(tunnel, visitor);
    if (visitor.socket.destroyed || this.context.verifier.greet?.(visitor)) return;
    this.refuse(visitor, new TunnelError('unauthorized', 'the visitor is not verified'));
  }

  private serve(tunnel: TunnelConfig, visitor: AdmittedSocket): void {
    const { channels } = this.context;
    const start: StartOf = {
      kind: 'tunnel',
      id: tunnel.id,
      target: null,
      destination: tunnel.ports?.mapped ? String(visitor.socket.localPort) : '',
      visitor: visitor.visitor,
      entrance: visitor.entrance,
    };
    try {
      const stream = channels.take(tunnel.clientId, start);
      if (stream) this.join(visitor, stream);
      else guardPromise(visitor.socket, this.joinLater(visitor, start));
    } catch (error) {
      this.refuse(visitor, error);
    }
  }

  private async joinLater(visitor: AdmittedSocket, start: StartOf): Promise<void> {
    try {
      this.join(visitor, await this.context.channels.open(visitor.clientId, start));
    } catch (error) {
      this.refuse(visitor, error);
    }
  }

  private join(visitor: AdmittedSocket, stream: ByteStream): void {
    for (const end of [visitor.socket, stream]) reuseMemory(end);
    // Does not wait for the agent's answer: the visitor's first bytes follow the start.
    relayFlow(this.context.ledger, visitor, [visitor.socket, stream], { throttle: visitor.throttle() });
  }

  private refuse({ socket, resource }: AdmittedSocket, error: unknown): void {
    resetStream(socket);
    if (!(error instanceof TunnelError)) throw error;
    const { code, message } = error;
    this.context.logger.debug('a visitor was refused', { tunnel: resource.id, code, reason: message });
  }
}
