import type { TLSSocket } from 'node:tls';
import { ByteReader } from '@gatehouse/net';
import type { TunnelConfig } from '../../config.js';
import type { CarriedMessage, PathStateMessage } from '../../wire/messages.js';
import { MAX_RENDEZVOUS_BYTES, readMapping } from '../../wire/rendezvous.js';
import type { VisitAnswer } from '../../wire/visit.js';
import type { ModeContext } from '../mode.js';
import { PATH_GRACE_MS, Rendezvous, type PathOrder } from './rendezvous.js';
import type { Endpoint } from '../../base/endpoint.js';

const MAX_OF_TUNNEL = 64;
const MAX_OF_SERVER = 4096;

export interface RendezvousTableOptions {
  context: ModeContext;
  enabled: boolean;
  /** Null: no agent of the client is connected. */
  senderTo: (clientId: number) => ((order: PathOrder) => void) | null;
}

/** The direct paths of mode `p2p`, open or being made. */
export class RendezvousTable {
  private readonly options: RendezvousTableOptions;
  private readonly byId = new Map<string, Rendezvous>();

  constructor(options: RendezvousTableOptions) {
    this.options = options;
  }

  /** Whether a visitor of the tunnel may ask for a path. The visitor was admitted before. */
  answer(tunnel: TunnelConfig, stream: TLSSocket): VisitAnswer {
    const { enabled, senderTo } = this.options;
    // If the server does not see the visitor's address, an agent could not reach it either.
    if (!enabled || tunnel.mode !== 'p2p' || !stream.remotePort) return 'relay';
    if (this.byId.size >= MAX_OF_SERVER || this.of(tunnel.id).length >= MAX_OF_TUNNEL) return 'overloaded';
    return senderTo(tunnel.clientId) ? 'welcome' : 'offline';
  }

  begin(tunnel: TunnelConfig, stream: TLSSocket, visitor: Endpoint): void {
    const rendezvous: Rendezvous = new Rendezvous({
      tunnel,
      stream,
      visitor,
      ledger: this.options.context.ledger,
      now: this.options.context.now,
      send: (order) => this.options.senderTo(tunnel.clientId)?.(order),
      onOver: () => this.byId.delete(rendezvous.id),
    });
    this.byId.set(rendezvous.id, rendezvous);
  }

  /**
   * Serves an agent's connection that shows its address, after the TLS handshake. `known`: called when it belongs to a
   * path; until then the caller's time limit applies.
   */
  async receive(stream: TLSSocket, known: () => void): Promise<void> {
    const { context } = this.options;
    try {
      const message = await readMapping(new ByteReader(stream, MAX_RENDEZVOUS_BYTES));
      if (!this.byId.get(message.id)?.mapped(message, stream)) return void stream.destroy();
      known();
      stream.on('end', () => stream.destroy());
    } catch (error) {
      context.logger.debug('an agent did not say where it is', { error: String(error) });
      stream.destroy();
    }
  }

  /** Handles a message of a client's agent. */
  said(clientId: number, message: PathStateMessage | CarriedMessage): void {
    const rendezvous = this.byId.get(message.id);
    if (rendezvous?.tunnel.clientId === clientId) {
      if (message.type === 'carried') rendezvous.carried(message);
      else rendezvous.became(message.state);
    } else if (message.type === 'pathState' && message.state === 'open') {
      this.options.senderTo(clientId)?.({ type: 'rendezvousEnd', id: message.id, graceMs: 0 });
    }
  }

  agentLeft(clientId: number): void {
    for (const one of this.byId.values()) if (one.tunnel.clientId === clientId) one.agentLeft();
  }

  /** The tunnel is no longer served here: its running connections may end. */
  closed(tunnelId: number): void {
    for (const one of this.of(tunnelId)) one.end(PATH_GRACE_MS);
  }

  /** Ends the paths that the configuration no longer allows: another key opened them, or the mode changed. */
  enforce(tunnelOf: (id: number) => TunnelConfig | undefined): void {
    for (const one of this.byId.values()) {
      const now = tunnelOf(one.tunnel.id);
      const { clientId, visitorKeyHash } = one.tunnel;
      const same = now?.mode === 'p2p' && now.clientId === clientId && now.visitorKeyHash === visitorKeyHash;
      if (now && !same) one.end(0);
    }
  }

  stop(): void {
    for (const one of this.byId.values()) one.end(0);
    for (const one of this.byId.values()) one.finish();
  }

  private of(tunnelId: number): Rendezvous[] {
    return [...this.byId.values()].filter(({ tunnel }) => tunnel.id === tunnelId);
  }
}
