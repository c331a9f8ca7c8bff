import type { TLSSocket } from 'node:tls';
import { ByteReader, relay, resetStream } from '@gatehouse/net';
import type { TunnelConfig } from '../../config.js';
import { TunnelError } from '../../errors.js';
import { FramedStream } from '../../wire/framed-stream.js';
import { agentKeyHash, sameHash } from '../../wire/key-string.js';
import type { Endpoint } from '../../wire/prelude.js';
import { decodeVisit, encodeVisitAnswer, VISIT_BYTES, type Visit, type VisitAnswer } from '../../wire/visit.js';
import type { Admitted } from '../admission.js';
import { endpoint } from '../endpoint.js';
import type { Entrance, ModeContext, ServerMode } from '../mode.js';
import { FailedVisits } from './failed-visits.js';

/** Of a tunnel that nobody can visit; compared all the same, so that a tunnel without a key answers as late as one with. */
const NO_HASH = '0'.repeat(64);

/**
 * Modes `secret` and `p2p` (which goes through the server as well): no port of their own. Visitors come through a
 * program at the agents' port and show the tunnel's key.
 */
export class PrivateMode implements ServerMode {
  private readonly context: ModeContext;
  private readonly handshakeMs: number;
  private readonly failed: FailedVisits;
  private readonly tunnels = new Map<number, () => TunnelConfig>();

  constructor(context: ModeContext, handshakeMs: number) {
    this.context = context;
    this.handshakeMs = handshakeMs;
    this.failed = new FailedVisits(context.now);
  }

  /** Not a port: the tunnel can be visited while it is open. */
  entrance(tunnel: () => TunnelConfig): Entrance {
    const { id } = tunnel();
    return {
      port: 0,
      listen: () => {
        this.tunnels.set(id, tunnel);
        return Promise.resolve();
      },
      close: () => void this.tunnels.delete(id),
    };
  }

  /** A connection of a visitor's program, fresh from its TLS handshake. */
  async receive(stream: TLSSocket): Promise<void> {
    const visitor = endpoint(stream.remoteAddress, stream.remotePort);
    if (this.failed.isBlocked(visitor.address)) return void stream.destroy();
    const timer = setTimeout(() => stream.destroy(), this.handshakeMs);
    stream.on('close', () => clearTimeout(timer));
    try {
      const reader = new ByteReader(stream, VISIT_BYTES);
      const visit = decodeVisit(await reader.read(VISIT_BYTES));
      clearTimeout(timer);
      const tunnel = this.opened(visit);
      if (tunnel) return await this.admit(tunnel, stream, reader, visitor);
      this.failed.note(visitor.address);
      this.refuse(stream, 'unauthorized');
    } catch (error) {
      this.context.logger.debug('a visitor was given up', { address: visitor.address, error: String(error) });
      stream.destroy();
    }
  }

  /** The tunnel that the visit's secret opens. */
  private opened({ tunnelId, secret }: Visit): TunnelConfig | null {
    const tunnel = this.tunnels.get(tunnelId)?.();
    const holds = sameHash(agentKeyHash(secret), tunnel?.visitorKeyHash ?? NO_HASH);
    return tunnel && holds ? tunnel : null;
  }

  private async admit(tunnel: TunnelConfig, stream: TLSSocket, reader: ByteReader, visitor: Endpoint): Promise<void> {
    const admitted = this.context.admission.admit({ kind: 'tunnel', id: tunnel.id }, tunnel.clientId, visitor);
    if (typeof admitted === 'string') {
      return this.refuse(stream, admitted === 'too_many_connections' ? 'overloaded' : 'denied');
    }
    if (stream.destroyed) return admitted.release();
    stream.on('close', () => admitted.release());
    await this.join(admitted, stream, reader);
  }

  private async join(admitted: Admitted, stream: TLSSocket, reader: ByteReader): Promise<void> {
    const { resource, clientId, visitor } = admitted;
    const { channels, ledger } = this.context;
    const entrance = endpoint(stream.localAddress, stream.localPort);
    try {
      const start = { kind: 'tunnel' as const, id: resource.id, target: null, destination: '', visitor, entrance };
      const channel = await channels.open(clientId, start);
      if (stream.destroyed) return resetStream(channel);
      stream.write(encodeVisitAnswer('welcome'));
      reader.restore();
      const flow = ledger.open(resource, clientId, visitor);
      flow.handle = relay(new FramedStream(stream), channel, flow.counter, {
        throttle: admitted.throttle(),
        onClose: (end) => ledger.close(flow, end),
      });
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.refuse(stream, error.code === 'overloaded' ? 'overloaded' : 'offline');
    }
  }

  private refuse(stream: TLSSocket, answer: VisitAnswer): void {
    stream.end(encodeVisitAnswer(answer));
    stream.destroySoon();
  }
}
