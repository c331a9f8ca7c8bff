import type { RemoteInfo } from 'node:dgram';
import { guardPromise, setFlowTimeout } from '@gatehouse/net';
import type { TunnelConfig } from '../config.js';
import type { DatagramSession } from '../datagrams/datagram-sessions.js';
import { TunnelError } from '../errors.js';
import type { ResourceRef } from '../resource.js';
import type { Admitted } from './admission.js';
import { endpoint, type Endpoint } from '../base/endpoint.js';
import type { Entrance, ModeContext, ServerMode } from './mode.js';
import { UdpEntrance } from './udp-entrance.js';

export interface UdpLimits {
  /** Idle timeout of a visitor in milliseconds, counting both directions. */
  idleMs: number;
  /** Concurrent visitors of one port. */
  visitors: number;
}

export const DEFAULT_UDP_LIMITS: UdpLimits = { idleMs: 60_000, visitors: 8192 };
/** Datagrams that are held while a visitor is verified. */
const MAX_HELD = 8;
const MAX_HELD_BYTES = 64 * 1024;
/** A refused visitor is not verified again for this long. */
const REFUSED_MS = 1000;

/** One session for each address and port that datagrams come from. */
export class UdpMode implements ServerMode {
  private readonly context: ModeContext;
  private readonly limits: UdpLimits;

  constructor(context: ModeContext, limits: UdpLimits) {
    this.context = context;
    this.limits = limits;
  }

  entrance(tunnel: () => TunnelConfig, port: number, onFailure: (error: Error) => void): Entrance {
    const visitors = new PortVisitors(this.limits.visitors);
    const place = { host: tunnel().listen.host, port };
    const entrance: UdpEntrance = new UdpEntrance(this.context.sockets, place, {
      datagram: (payload, from) => {
        const key = `${from.address} ${from.port}`;
        const known = visitors.get(key);
        if (known) return known.send(payload);
        if (!visitors.makeRoom()) return;
        const visitor = this.admit(tunnel(), entrance, from, visitors.observer(key));
        if (!visitor) return;
        visitors.add(key, visitor);
        visitor.send(payload);
        visitor.start();
      },
      failed: onFailure,
      closed: () => visitors.end(),
    });
    return entrance;
  }

  /** Null: refused without an answer. */
  private admit(
    tunnel: TunnelConfig,
    entrance: UdpEntrance,
    from: RemoteInfo,
    observer: VisitorObserver,
  ): UdpVisitor | null {
    const resource: ResourceRef = { kind: 'tunnel', id: tunnel.id };
    const admitted = this.context.admission.admit(resource, tunnel.clientId, endpoint(from.address, from.port));
    if (typeof admitted === 'string') return null;
    return new UdpVisitor({
      context: this.context,
      admitted,
      idleMs: this.limits.idleMs,
      entrance: entrance.address,
      answer: (payload) => entrance.send(payload, from),
      observer,
    });
  }
}

interface VisitorObserver {
  /** The visitor is no longer evicted for others: its target has answered, or it was refused. */
  settled(): void;
  gone(): void;
}

/** The visitors of one port, by address and port. */
class PortVisitors {
  private readonly most: number;
  private readonly visitors = new Map<string, UdpVisitor>();
  /** Visitors without an answer, the oldest first: their addresses may be forged. */
  private readonly unanswered = new Map<string, UdpVisitor>();

  constructor(most: number) {
    this.most = most;
  }

  get(key: string): UdpVisitor | undefined {
    return this.visitors.get(key);
  }

  /** False: all visitors have had answers. */
  makeRoom(): boolean {
    if (this.visitors.size < this.most) return true;
    const [oldest] = this.unanswered.values();
    oldest?.end();
    return this.visitors.size < this.most;
  }

  add(key: string, visitor: UdpVisitor): void {
    this.visitors.set(key, visitor);
    this.unanswered.set(key, visitor);
  }

  observer(key: string): VisitorObserver {
    return {
      settled: () => this.unanswered.delete(key),
      gone: () => {
        this.visitors.delete(key);
        this.unanswered.delete(key);
      },
    };
  }

  end(): void {
    for (const visitor of this.visitors.values()) visitor.end();
  }
}

interface UdpVisitorOptions {
  context: ModeContext;
  admitted: Admitted;
  idleMs: number;
  entrance: Endpoint;
  answer: (payload: Uint8Array) => void;
  observer: VisitorObserver;
}

/** One source address and port: its datagrams are held while it is verified, then it becomes a session. */
class UdpVisitor {
  private readonly options: UdpVisitorOptions;
  private session: DatagramSession | null = null;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private answered = false;
  private ended = false;

  constructor(options: UdpVisitorOptions) {
    this.options = options;
  }

  send(payload: Buffer): void {
    if (this.session) return this.session.send(payload);
    if (this.ended || this.held.length >= MAX_HELD || this.heldBytes + payload.length > MAX_HELD_BYTES) return;
    this.held.push(payload);
    this.heldBytes += payload.length;
  }

  start(): void {
    const { context, admitted } = this.options;
    const allowed = context.verifier.allows(admitted.resource, admitted.clientId, admitted.visitor);
    if (allowed === true) this.open();
    else guardPromise({ destroy: () => this.end() }, this.startVerified(allowed));
  }

  end(): void {
    if (this.session) this.session.close();
    else this.leave();
  }

  private async startVerified(allowed: boolean | Promise<boolean>): Promise<void> {
    try {
      if (await allowed) this.open();
      else this.refuse();
    } catch (error) {
      this.options.context.logger.error('a visitor could not be verified', { error: String(error) });
      this.refuse();
    }
  }

  private open(): void {
    if (this.ended) return;
    const { context, admitted, entrance, idleMs } = this.options;
    try {
      this.session = context.datagrams.open({
        admitted,
        entrance,
        idleMs,
        onDatagram: (payload) => this.answer(payload),
        onClose: () => this.leave(),
      });
    } catch (error) {
      this.leave();
      if (!(error instanceof TunnelError)) throw error;
      return;
    }
    for (const payload of this.held) this.session.send(payload);
    this.held = [];
  }

  private answer(payload: Uint8Array): void {
    if (!this.answered) this.options.observer.settled();
    this.answered = true;
    this.options.answer(payload);
  }

  private leave(): void {
    if (this.ended) return;
    this.release();
    this.options.observer.gone();
  }

  /** Stays refused for a moment, so that not every datagram is verified. */
  private refuse(): void {
    if (this.ended) return;
    this.release();
    this.options.observer.settled();
    setFlowTimeout(null, () => this.options.observer.gone(), REFUSED_MS).unref();
  }

  private release(): void {
    this.ended = true;
    this.held = [];
    this.options.admitted.release();
  }
}
