import { randomBytes } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { setFlowTimeout } from '@gatehouse/net';
import type { TunnelConfig } from '../../config.js';
import type { Flow, FlowLedger, FlowDelta } from '../../flow-ledger.js';
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

/** Time limit for both sides to connect. */
const ATTEMPT_MS = 15_000;
/**
 * Grace period for running connections when the visitor's program or the server goes, and for an agent to reconnect.
 */
export const PATH_GRACE_MS = 5000;
/** Time for the agent's last report, after the path's end. */
const LAST_WORD_MS = 2000;

export type PathOrder = RendezvousMessage | RendezvousEndMessage;

export interface RendezvousOptions {
  tunnel: TunnelConfig;
  /** Connection of the visitor's program; its end ends the path. */
  stream: TLSSocket;
  visitor: Endpoint;
  ledger: FlowLedger;
  now: () => number;
  /** Sends to the tunnel's agent, if it is connected. */
  send: (order: PathOrder) => void;
  onOver(): void;
}

/** The server's part in a direct path: puts both sides in contact, counts, and ends the path. */
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
    // The program has nothing more to send.
    stream.on('data', () => stream.destroy());
    stream.on('end', () => stream.destroy());
    stream.on('close', () => this.end(PATH_GRACE_MS));
    stream.resume();
    const token = this.token.toString('base64url');
    options.send({ type: 'rendezvous', id: this.id, tunnelId: tunnel.id, visitor, token });
  }

  /** The agent shows its address. Returns whether it is the agent that was asked. */
  mapped(message: MappingMessage, stream: TLSSocket): boolean {
    const proof = mappingProof(this.token, message);
    if (this.mapping || this.ending || !sameProof(Buffer.from(proof), Buffer.from(message.proof))) return false;
    this.mapping = stream;
    const { fingerprint } = message;
    const agent = endpoint(stream.remoteAddress, stream.remotePort);
    // The agent's local address is useful to the visitor only behind the same NAT or on the same machine.
    const local = agent.address === this.options.visitor.address ? message.local : agent;
    const token = this.token.toString('base64url');
    this.options.stream.write(encodeRendezvous({ agent, local, fingerprint, token }));
    return true;
  }

  became(state: PathStateMessage['state']): void {
    if (state === 'over') this.finish();
    else if (state === 'refused') this.end(0);
    // Without a proven address of the agent there is no path, whatever the agent reports.
    else if (this.mapping && !this.ending) this.opened();
  }

  carried(message: CarriedMessage): void {
    if (!this.flow || !this.bound) return;
    this.options.ledger.carried(this.flow, this.bound.believe(message, this.options.now()));
  }

  /** The control connection has ended. The path continues for a moment, in which the agent may reconnect. */
  agentLeft(): void {
    if (this.ending) return this.finish();
    if (!this.flow) return this.end(0);
    clearTimeout(this.timer);
    this.timer = setFlowTimeout(null, () => this.end(0), PATH_GRACE_MS);
  }

  /** Notifies both sides. The agent has `graceMs` for running connections, and then reports what it carried. */
  end(graceMs: number): void {
    const { stream, send } = this.options;
    if (this.over || (this.ending && graceMs > 0)) return;
    this.ending = true;
    clearTimeout(this.timer);
    this.timer = setFlowTimeout(null, () => this.finish(), this.flow ? graceMs + LAST_WORD_MS : 0);
    send({ type: 'rendezvousEnd', id: this.id, graceMs });
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

/** 100 Gbit/s: more than one direct path carries. */
const BYTES_PER_MS = 12_500_000;
const CONNECTIONS_PER_MS = 100;
/** Reports may be late: an unused allowance is kept for this long. */
const KEPT_MS = 60_000;
/** Allowance for what an agent counted before it could report the path open. */
const AT_FIRST_MS = 1_000;

type Carried = Pick<FlowDelta, 'upload' | 'download' | 'connections'>;

/**
 * Limits what an agent may report for a direct path. Only the agent and its visitor see those bytes, so a report counts
 * only as far as a fast network could have carried it in that time. Bytes are counted for each direction.
 */
class CarriedBound {
  private updatedAt: number;
  private readonly left: Carried = allowance(AT_FIRST_MS);

  constructor(now: number) {
    this.updatedAt = now;
  }

  /** The plausible part of a report. Times are in milliseconds. */
  believe(report: Carried, now: number): Carried {
    // If the clock was set back, the allowance does not change.
    const more = allowance(Math.min(KEPT_MS, Math.max(0, now - this.updatedAt)));
    const most = allowance(KEPT_MS);
    this.updatedAt = now;
    const believed = { upload: 0, download: 0, connections: 0 };
    for (const field of ['upload', 'download', 'connections'] as const) {
      const left = Math.min(most[field], this.left[field] + more[field]);
      believed[field] = Math.min(report[field], left);
      this.left[field] = left - believed[field];
    }
    return believed;
  }
}

function allowance(ms: number): Carried {
  return { upload: ms * BYTES_PER_MS, download: ms * BYTES_PER_MS, connections: ms * CONNECTIONS_PER_MS };
}
