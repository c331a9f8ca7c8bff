import type { TLSSocket } from 'node:tls';
import { ByteReader, resetStream, setFlowTimeout } from '@gatehouse/net';
import type { GateRefusal } from '../../access/gate.js';
import type { TunnelConfig } from '../../config.js';
import { TunnelError } from '../../errors.js';
import { relayFlow } from '../../relay-flow.js';
import { FramedStream } from '../../wire/framed-stream.js';
import { agentKeyHash, sameHash } from '../../wire/key-string.js';
import { decodeVisit, encodeVisitAnswer, VISIT_BYTES, type Visit, type VisitAnswer } from '../../wire/visit.js';
import type { Arrival } from '../../session/arrival.js';
import type { Admitted } from '../admission.js';
import type { Entrance, ModeContext, ServerMode } from '../mode.js';
import { FailedVisits } from './failed-visits.js';
import type { RendezvousTable } from './rendezvous-table.js';
import type { Endpoint } from '../../base/endpoint.js';

/** Compared for a tunnel without a key, so that its answer takes as long as that of a tunnel with one. */
const NO_HASH = '0'.repeat(64);

/** A visitor whose request was read. */
interface Arrived {
  stream: TLSSocket;
  reader: ByteReader;
  visitor: Endpoint;
  entrance: Endpoint;
}

/**
 * Modes `secret` and `p2p`, which have no port. Visitors use a program that connects to the port for agents and shows
 * the tunnel's key. With `p2p`, visitors may also ask for a direct path to the agent.
 */
export class PrivateMode implements ServerMode {
  private readonly context: ModeContext;
  private readonly failed: FailedVisits;
  private readonly tunnels = new Map<number, () => TunnelConfig>();
  private readonly paths: RendezvousTable;

  constructor(context: ModeContext, paths: RendezvousTable) {
    this.context = context;
    this.paths = paths;
    this.failed = new FailedVisits(context.now);
  }

  /** Not a port: the tunnel can be visited while the entrance is open. */
  entrance(tunnel: () => TunnelConfig): Entrance {
    const { id } = tunnel();
    return {
      port: 0,
      listen: () => {
        this.tunnels.set(id, tunnel);
        return Promise.resolve();
      },
      close: () => {
        this.tunnels.delete(id);
        this.paths.closed(id);
      },
    };
  }

  /** Resets visitors whose tunnel has another key or mode now. */
  enforce(): void {
    this.paths.enforce((id) => this.tunnels.get(id)?.());
  }

  /**
   * Serves a connection of a visitor's program after its TLS handshake. `known`: called when its key was right; until
   * then the caller's time limit applies.
   */
  async receive(stream: TLSSocket, { from: visitor, entrance }: Arrival, known: () => void): Promise<void> {
    if (!visitor) return void stream.destroy();
    try {
      const reader = new ByteReader(stream, VISIT_BYTES);
      const visit = decodeVisit(await reader.read(VISIT_BYTES));
      const tunnel = this.opened(visit);
      if (tunnel) known();
      if (tunnel && visit.purpose === 'rendezvous') return this.meet(tunnel, stream, reader, visitor);
      if (tunnel) return await this.admit(tunnel, { stream, reader, visitor, entrance });
      this.refuseLate(stream, this.failed.note(visitor.address));
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

  private async admit(tunnel: TunnelConfig, arrived: Arrived): Promise<void> {
    const { stream, visitor } = arrived;
    const admitted = this.context.admission.admit({ kind: 'tunnel', id: tunnel.id }, tunnel.clientId, visitor);
    if (typeof admitted === 'string') return this.refuse(stream, answerFor(admitted));
    if (stream.destroyed) return admitted.release();
    stream.on('close', () => admitted.release());
    await this.join(admitted, arrived);
  }

  /**
   * A direct path does not count as a connection of the client; admission only checks whether another one would be
   * allowed.
   */
  private meet(tunnel: TunnelConfig, stream: TLSSocket, reader: ByteReader, visitor: Endpoint): void {
    const admitted = this.context.admission.admit({ kind: 'tunnel', id: tunnel.id }, tunnel.clientId, visitor);
    if (typeof admitted === 'string') return this.refuse(stream, answerFor(admitted));
    admitted.release();
    const answer = this.paths.answer(tunnel, stream);
    if (answer !== 'welcome') return this.refuse(stream, answer);
    stream.write(encodeVisitAnswer('welcome'));
    reader.restore();
    this.paths.begin(tunnel, stream, visitor);
  }

  private async join(admitted: Admitted, { stream, reader, entrance }: Arrived): Promise<void> {
    const { resource, clientId, visitor } = admitted;
    const { channels, ledger } = this.context;
    try {
      const start = { kind: 'tunnel' as const, id: resource.id, target: null, destination: '', visitor, entrance };
      const channel = await channels.open(clientId, start);
      if (stream.destroyed) return resetStream(channel);
      stream.write(encodeVisitAnswer('welcome'));
      reader.restore();
      relayFlow(ledger, admitted, [new FramedStream(stream), channel], { throttle: admitted.throttle() });
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.refuse(stream, error.code === 'overloaded' ? 'overloaded' : 'offline');
    }
  }

  private refuseLate(stream: TLSSocket, delayMs: number): void {
    if (delayMs === 0) return this.refuse(stream, 'unauthorized');
    const timer = setFlowTimeout(stream, () => this.refuse(stream, 'unauthorized'), delayMs);
    stream.once('close', () => clearTimeout(timer));
  }

  private refuse(stream: TLSSocket, answer: VisitAnswer): void {
    stream.end(encodeVisitAnswer(answer));
    stream.destroySoon();
  }
}

function answerFor(refusal: GateRefusal): VisitAnswer {
  return refusal === 'too_many_connections' ? 'overloaded' : 'denied';
}
