import type { Socket } from 'node:net';
import { ByteReaderError, guardPromise, resetStream, setFlowTimeout } from '@gatehouse/net';
import { AbortedSockets } from '../aborted-sockets.js';
import type { AdmissionRefusal, Gate, GateRefusal, Lease } from '../access/gate.js';
import type { Asked } from '../access/request-condition.js';
import type { TrustedProxies } from '../access/trusted-proxies.js';
import type { HostConfig, TunnelConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import type { RateLimits, VisitorLimiter } from '../limits/rate-limits.js';
import { resourceKey, type ResourceRef } from '../resource.js';
import { readProxyHeader } from '../wire/proxy-header-reader.js';
import { endpoint, farEnd, type Endpoint } from '../base/endpoint.js';

/** An admitted visitor: a TCP connection, a UDP session or an HTTP request. */
export interface Admitted {
  readonly resource: ResourceRef;
  readonly clientId: number;
  /** Its address, as named by trusted proxies. */
  readonly visitor: Endpoint;
  readonly asked: Asked;
  /** Must be called when the visitor has left; further calls do nothing. */
  release(): void;
  /**
   * The rate limiter of the client, the tunnel or both; null without a limit. Needed when bytes begin to flow (`relay` takes it as `throttle`);
   * later changes arrive through `Flow.handle.limit`. Without a relay, ask before each part: `tryTake` for datagrams,
   * `pass` for bodies of requests.
   */
  throttle(): VisitorLimiter | null;
}

export interface AdmittedSocket extends Admitted {
  readonly socket: Socket;
  /** The address that the visitor connected to, as named by a trusted proxy. */
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
  /** Proxies that are trusted to name their visitors. */
  proxies: TrustedProxies;
  /** How long such a proxy may take to do so, in milliseconds. */
  proxyHeaderMs: number;
  /** Called for every refusal. */
  onRefused: (refused: RefusedVisitor) => void;
}

export interface RefusedVisitor {
  resource: ResourceRef;
  clientId: number;
  address: string;
  reason: AdmissionRefusal;
  asked: Asked;
}

/** What a visitor wants to reach. */
interface Destination {
  resource: ResourceRef;
  clientId: number;
  asked: Asked;
}

interface Ends {
  visitor: Endpoint;
  entrance: Endpoint;
}

/** A class, because there may be thousands a second. */
class AdmittedConnection implements AdmittedSocket {
  readonly resource: ResourceRef;
  readonly clientId: number;
  readonly asked: Asked;
  readonly visitor: Endpoint;
  readonly entrance: Endpoint;
  readonly socket: Socket;
  private readonly lease: Lease;
  private readonly limits: RateLimits;

  constructor(wanted: Destination, { visitor, entrance }: Ends, lease: Lease, limits: RateLimits, socket: Socket) {
    this.resource = wanted.resource;
    this.clientId = wanted.clientId;
    this.asked = wanted.asked;
    this.visitor = visitor;
    this.entrance = entrance;
    this.socket = socket;
    this.lease = lease;
    this.limits = limits;
  }

  release(): void {
    this.lease.release();
  }

  throttle(): VisitorLimiter | null {
    return this.limits.of(this.clientId, this.resource);
  }
}

/**
 * Admits visitors of all modes and of hosts: finds out who they are, whether they are allowed, and what they occupy
 * while they are connected.
 */
export class Admission {
  private readonly options: AdmissionOptions;
  private readonly sockets = new Set<AdmittedSocket>();
  private readonly aborted = new AbortedSockets();

  constructor(options: AdmissionOptions) {
    this.options = options;
  }

  /** Admits a visitor of a UDP port or of a host, whose address is known. */
  admit(resource: ResourceRef, clientId: number, visitor: Endpoint, asked?: Asked): Admitted | GateRefusal {
    const wanted = { resource, clientId, asked };
    const lease = this.lease(wanted, visitor);
    if (typeof lease === 'string') return lease;
    const throttle = (): VisitorLimiter | null => this.options.limits.of(clientId, resource);
    return { resource, clientId, visitor, asked, release: () => lease.release(), throttle };
  }

  private lease({ resource, clientId, asked }: Destination, { address }: Endpoint): Lease | GateRefusal {
    const { gate, onRefused } = this.options;
    const lease = gate.enter(resource, clientId, address, asked);
    if (typeof lease === 'string') onRefused({ resource, clientId, address, reason: lease, asked });
    return lease;
  }

  /** Admits a connection to a tunnel's port, directly after accept. Reads what comes before the visitor's own bytes. */
  receive(tunnel: TunnelConfig, socket: Socket, reception: Reception): void {
    const visitor = farEnd(socket);
    if (!visitor) return resetStream(socket);
    const ends = { visitor, entrance: endpoint(socket.localAddress, socket.localPort) };
    if (tunnel.acceptProxyProtocol) guardPromise(socket, this.receiveProxied(tunnel, socket, ends, reception));
    else this.enter(ofTunnel(tunnel), socket, ends, reception);
  }

  /** Admits a connection to a host as a whole. */
  receiveAtHost({ id, clientId }: HostConfig, socket: Socket, reception: Reception): void {
    const visitor = farEnd(socket);
    if (!visitor) return resetStream(socket);
    const ends = { visitor, entrance: endpoint(socket.localAddress, socket.localPort) };
    this.enter({ resource: { kind: 'host', id }, clientId, asked: 'unseen' }, socket, ends, reception);
  }

  /** Resets the sockets of visitors that are no longer allowed, including those that carry no bytes yet. */
  enforce(): void {
    for (const { resource, clientId, visitor, asked, socket } of this.sockets) {
      if (this.options.gate.refusal(resource, clientId, visitor.address, asked)) resetStream(socket);
    }
  }

  /** Resets the sockets of visitors whose verification is no longer valid. */
  reset(resources: ReadonlySet<string>): void {
    for (const { resource, socket } of this.sockets) if (resources.has(resourceKey(resource))) resetStream(socket);
  }

  private async receiveProxied(tunnel: TunnelConfig, socket: Socket, own: Ends, reception: Reception): Promise<void> {
    const { proxies, proxyHeaderMs } = this.options;
    if (!proxies.has(own.visitor.address)) return this.turnAway(tunnel, socket, own, 'untrusted_proxy');
    const timer = setFlowTimeout(socket, () => resetStream(socket), proxyHeaderMs);
    try {
      const said = await readProxyHeader(socket);
      this.enter(ofTunnel(tunnel), socket, said ?? own, reception);
    } catch (error) {
      if (!(error instanceof TunnelError || error instanceof ByteReaderError)) throw error;
      this.turnAway(tunnel, socket, own, 'bad_proxy_header');
    } finally {
      clearTimeout(timer);
    }
  }

  private turnAway({ id, clientId }: TunnelConfig, socket: Socket, ends: Ends, reason: AdmissionRefusal): void {
    const { address } = ends.visitor;
    this.options.onRefused({ resource: { kind: 'tunnel', id }, clientId, address, reason, asked: undefined });
    resetStream(socket);
  }

  private enter(wanted: Destination, socket: Socket, { visitor, entrance }: Ends, reception: Reception): void {
    const lease = this.lease(wanted, visitor);
    if (typeof lease === 'string') {
      if (reception.refused) reception.refused(socket, lease);
      else resetStream(socket);
      return;
    }
    // A socket that closed while its header was read does not emit `close` again.
    if (socket.destroyed) return lease.release();
    const admitted = new AdmittedConnection(wanted, { visitor, entrance }, lease, this.options.limits, socket);
    this.sockets.add(admitted);
    this.aborted.add(socket);
    socket.on('close', () => {
      this.aborted.delete(socket);
      this.sockets.delete(admitted);
      lease.release();
    });
    reception.admitted(admitted);
  }
}

function ofTunnel({ id, clientId }: TunnelConfig): Destination {
  return { resource: { kind: 'tunnel', id }, clientId, asked: undefined };
}
