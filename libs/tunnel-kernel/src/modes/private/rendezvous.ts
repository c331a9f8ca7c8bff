import { randomBytes } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { setFlowTimeout } from '@gatehouse/net';
import type { TunnelConfig } from '../../config.js';
import type { Flow, FlowLedger } from '../../flow-ledger.js';
import type { CarriedMessage, PathStateMessage, RendezvousEndMessage, RendezvousMessage } from '../../wire/messages.js';
import {
  encodeRendezvous,
  mappingProof,
  RENDEZVOUS_ID_BYTES,
  sameProof,
  TOKEN_BYTES,
  type MappingMessage,
} from '../../wire/rendezvous.js';
import { endpoint, type Endpoint } from '../../base/endpoint.js';
import { CarriedBound } from './carried-bound.js';

/** For both sides to find each other. */
const ATTEMPT_MS = 15_000;
/** For what runs, when the visitor's program or the server goes; and for an agent to come back. */
export const PATH_GRACE_MS = 5000;
/** For the agent's last count, after the path's end. */
const LAST_WORD_MS = 2000;

export type PathOrder = RendezvousMessage | RendezvousEndMessage;

export interface RendezvousOptions {
  tunnel: TunnelConfig;
  /** The visitor's program; the end of this connection is the end of the path. */
  stream: TLSSocket;
  visitor: Endpoint;
  ledger: FlowLedger;
  now: () => number;
  /** To the tunnel's agent, if it is there. */
  tell: (order: PathOrder) => void;
  onOver(): void;
}

/** The server's share in one direct path: brings both sides together, counts, and ends it. */
export class Rendezvous {
  readonly id = randomBytes(RENDEZVOUS_ID_BYTES).toString('hex');
  readonly tunnel: TunnelConfig;
  private readonly token = randomBytes(TOKEN_BYTES);
  private readonly options: RendezvousOptions;
  private timer: NodeJS.Timeout;
  private mapping: TLSSocket | null = null;
  private flow: Flow | null = null;
  private bound: CarriedBound | null = null;
  private ending = false;
  private over = false;

  constructor(options: RendezvousOptions) {
    this.options = options;
    this.tunnel = options.tunnel;
    this.timer = setFlowTimeout(null, () => this.end(0), ATTEMPT_MS);
    const { stream, visitor, tunnel } = options;
    // It has said all that it has to say.
    stream.on('data', () => stream.destroy());
    stream.on('end', () => stream.destroy());
    stream.on('close', () => this.end(PATH_GRACE_MS));
    stream.resume();
    const token = this.token.toString('base64url');
    options.tell({ type: 'rendezvous', id: this.id, tunnelId: tunnel.id, visitor, token });
  }

  /** The agent shows where it is. Whether it is the one that was asked. */
  mapped(message: MappingMessage, stream: TLSSocket): boolean {
    const proof = mappingProof(this.token, message);
    if (this.mapping || this.ending || !sameProof(Buffer.from(proof), Buffer.from(message.proof))) return false;
    this.mapping = stream;
    const { fingerprint } = message;
    const agent = endpoint(stream.remoteAddress, stream.remotePort);
    // Only behind one NAT, or on one machine, can the agent's own address mean anything to the visitor.
    const local = agent.address === this.options.visitor.address ? message.local : agent;
    const token = this.token.toString('base64url');
    this.options.stream.write(encodeRendezvous({ agent, local, fingerprint, token }));
    return true;
  }

  became(state: PathStateMessage['state']): void {
    if (state === 'over') this.finish();
    else if (state === 'refused') this.end(0);
    // A path leads to where the agent has shown to be: without that there is none, whatever it says.
    else if (this.mapping && !this.ending) this.opened();
  }

  carried(message: CarriedMessage): void {
    if (!this.flow || !this.bound) return;
    this.options.ledger.carried(this.flow, this.bound.believe(message, this.options.now()));
  }

  /** The control connection is gone. The path outlives that for a moment, in which the agent may come back. */
  agentLeft(): void {
    if (this.ending) return this.finish();
    if (!this.flow) return this.end(0);
    clearTimeout(this.timer);
    this.timer = setFlowTimeout(null, () => this.end(0), PATH_GRACE_MS);
  }

  /** Tells both sides. The agent has until `graceMs` for what runs, and then says what it carried. */
  end(graceMs: number): void {
    const { stream, tell } = this.options;
    if (this.over || (this.ending && graceMs > 0)) return;
    this.ending = true;
    clearTimeout(this.timer);
    this.timer = setFlowTimeout(null, () => this.finish(), this.flow ? graceMs + LAST_WORD_MS : 0);
    tell({ type: 'rendezvousEnd', id: this.id, graceMs });
    stream.destroy();
    this.mapping?.destroy();
  }

  finish(): void {
    if (this.over) return;
    this.over = true;
    this.ending = true;
    clearTimeout(this.timer);
    this.options.stream.destroy();
    this.mapping?.destroy();
    if (this.flow) this.options.ledger.close(this.flow, { reason: 'client_closed' });
    this.options.onOver();
  }

  private opened(): void {
    clearTimeout(this.timer);
    this.mapping?.destroy();
    if (this.flow) return;
    const { ledger, tunnel, visitor, now } = this.options;
    this.bound = new CarriedBound(now());
    this.flow = ledger.open({ kind: 'tunnel', id: tunnel.id }, tunnel.clientId, visitor, 0);
    this.flow.handle = { stop: () => this.end(0) };
  }
}
