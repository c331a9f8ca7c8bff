import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback } from '@gatehouse/net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { assignClientAddress } from '../http/client-address.js';
import type { AcceptedConnection, ProxyClients } from './proxy-clients.js';

/** Maximum number of connections that wait for an answer; others are served without one. */
const MAX_WAITING = 256;
/** An attempt that failed after this long has delayed its caller. The next ones fail at once, for `PAUSE_MS`. */
const SLOW_MS = 500;
const PAUSE_MS = 1_000;
/** A monitor has to reach the service, whatever the kernel does. */
const WATCHED = new Set(['/healthz', '/readyz']);

/** The connection as it was accepted: a closed socket no longer knows its peer. */
interface Arrival {
  readonly ends: Pick<AcceptedConnection, 'from' | 'to'>;
  readonly acceptedAt: number;
  /** Whether a program on this machine may have connected. */
  readonly isLocal: boolean;
  /**
   * Undefined: not known yet. Stored per connection, not per request: the kernel shares no connection between clients.
   */
  client: string | null | undefined;
  asked: Promise<string | null> | undefined;
}

const sources = new WeakMap<Request, Promise<void>>();
const failures = new WeakMap<Request, unknown>();

/**
 * For code that needs a request's address before its body is read: resolves when the address is known. Undefined: it is
 * known. A client that leaves before its body was read aborts its call, so wait here only if necessary.
 */
export function pendingSource(request: Request): Promise<void> | undefined {
  return sources.get(request);
}

/** Waits until the sender of a request is known. */
export function awaitSource(request: Request, _response: Response, next: NextFunction): void {
  const source = sources.get(request);
  if (source === undefined) next();
  else void source.finally(next);
}

/** The reason why it could not be determined whether a request came through the proxy, or undefined. */
export function namingFailure(request: Request): unknown {
  return failures.get(request);
}

/**
 * Gives requests that came through the platform's own proxy the address of the proxy's client, for limits and the audit
 * log. Their connections come from the kernel's machine, like those of local programs. The kernel is asked once for
 * each such connection, by its two ends; headers are ignored, because the client chooses them. If the kernel cannot be
 * asked, the request keeps the address of its connection. Does not wait: `awaitSource` does, and `pendingSource`.
 */
export function nameProxyClients(server: Server, clients: ProxyClients): RequestHandler {
  const arrivals = new WeakMap<Socket, Arrival>();
  const questions = new Questions(clients);
  server.on('connection', (socket: Socket) => arrivals.set(socket, arrivalOf(socket)));
  return (request, _response, next) => {
    const arrival = arrivals.get(request.socket);
    if (arrival === undefined || arrival.client === null) return next();
    if (arrival.client !== undefined) {
      assignClientAddress(request, arrival.client);
      return next();
    }
    if (!mayBeKernels(arrival, clients) || WATCHED.has(request.path)) return next();
    sources.set(request, questions.ask(arrival, request));
    next();
  };
}

/** Questions to the kernel: a limited number, none twice, and none while it does not answer. */
class Questions {
  private readonly clients: ProxyClients;
  private waiting = 0;
  private pause: { until: number; error: unknown } | undefined;

  constructor(clients: ProxyClients) {
    this.clients = clients;
  }

  /** Sets the address of the request, or stores why that is not possible. Never rejects. */
  async ask(arrival: Arrival, request: Request): Promise<void> {
    try {
      arrival.asked ??= this.find(arrival);
      arrival.client = await arrival.asked;
      if (arrival.client !== null) assignClientAddress(request, arrival.client);
    } catch (error) {
      failures.set(request, error);
    } finally {
      arrival.asked = undefined;
      sources.delete(request);
    }
  }

  private async find({ ends, acceptedAt }: Arrival): Promise<string | null> {
    const began = performance.now();
    if (this.pause !== undefined && began < this.pause.until) throw this.pause.error;
    if (this.waiting >= MAX_WAITING) throw new Error('too many connections wait for their clients to be named');
    this.waiting += 1;
    try {
      return await this.clients.clientOf({ ...ends, ageMs: began - acceptedAt });
    } catch (error) {
      const now = performance.now();
      if (now - began > SLOW_MS) this.pause = { until: now + PAUSE_MS, error };
      throw error;
    } finally {
      this.waiting -= 1;
    }
  }
}

/** A listener for both families shows IPv4 as IPv6. */
function plain(address = ''): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function arrivalOf({ remoteAddress, remotePort = 0, localAddress, localPort = 0 }: Socket): Arrival {
  const from = { address: plain(remoteAddress), port: remotePort };
  const to = { address: plain(localAddress), port: localPort };
  // A connection to an address of this machine comes from the same address, or from a loopback address.
  const isLocal = from.address === to.address || isLoopback(from.address);
  return { ends: { from, to }, acceptedAt: performance.now(), isLocal, client: undefined, asked: undefined };
}

function mayBeKernels({ isLocal, ends }: Arrival, { kernelAddresses }: ProxyClients): boolean {
  return isLocal || kernelAddresses === null || kernelAddresses.has(ends.from.address);
}
