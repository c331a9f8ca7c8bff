import type { Socket } from 'node:net';
import { resetStream } from '@gatehouse/net';
import type { Gate, GateRefusal } from '../access/gate.js';
import type { TunnelConfig } from '../config.js';
import type { RateLimiter } from '../limits/rate-limiter.js';
import type { RateLimits } from '../limits/rate-limits.js';
import type { ResourceRef } from '../resource.js';
import type { Endpoint } from '../wire/prelude.js';
import { endpoint } from './endpoint.js';

/** A visitor that was let in: a TCP connection, a UDP session or an HTTP request. */
export interface Admitted {
  readonly resource: ResourceRef;
  readonly clientId: number;
  /** Who it is, after trusted proxies were believed. */
  readonly visitor: Endpoint;
  /** When the visitor is gone, however it went; the first call counts. */
  release(): void;
  /**
   * What holds the client's bytes back; null without a limit. Asked when bytes begin to flow (`relay` takes it as
   * `throttle`); for flows that run, changes come through `Flow.handle.limit`. Who has no relay asks before each part:
   * `tryTake` for datagrams, `pass` for bodies of requests.
   */
  throttle(): RateLimiter | null;
}

export interface AdmittedSocket extends Admitted {
  readonly socket: Socket;
  /** Where the visitor came in, as a trusted proxy says. */
  readonly entrance: Endpoint;
}

export interface Reception {
  /** The socket is paused; its `close` releases. */
  admitted(visitor: AdmittedSocket): void;
  /** Absent: the socket is reset. */
  refused?(socket: Socket, reason: GateRefusal): void;
}

export interface AdmissionOptions {
  gate: Gate;
  limits: RateLimits;
  /** Every refusal. */
  onRefused(resource: ResourceRef, clientId: number, address: string, reason: GateRefusal): void;
}

/** The way in for visitors of every mode and of hosts: who they are, whether they may, what they hold while they are in. */
export class Admission {
  private readonly options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.options = options;
  }

  /** A visitor of a UDP port or of a host, whose address is known. */
  admit(resource: ResourceRef, clientId: number, visitor: Endpoint): Admitted | GateRefusal {
    const { gate, limits, onRefused } = this.options;
    const lease = gate.enter(resource, clientId, visitor.address);
    if (typeof lease === 'string') {
      onRefused(resource, clientId, visitor.address, lease);
      return lease;
    }
    return { resource, clientId, visitor, release: () => lease.release(), throttle: () => limits.of(clientId) };
  }

  /** A connection to a tunnel's port, fresh from accept. */
  receive(tunnel: TunnelConfig, socket: Socket, reception: Reception): void {
    const visitor = endpoint(socket.remoteAddress, socket.remotePort);
    const entrance = endpoint(socket.localAddress, socket.localPort);
    const admitted = this.admit({ kind: 'tunnel', id: tunnel.id }, tunnel.clientId, visitor);
    if (typeof admitted === 'string') {
      if (reception.refused) reception.refused(socket, admitted);
      else resetStream(socket);
      return;
    }
    socket.on('close', () => admitted.release());
    reception.admitted({ ...admitted, socket, entrance });
  }
}
