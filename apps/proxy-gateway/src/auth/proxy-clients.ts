import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback } from '@gatehouse/net';
import { assignClientAddress } from '@gatehouse/platform';
import type { Request, RequestHandler } from 'express';
import type { OwnServiceConnection } from '@gatehouse/proxy-kernel';
import type { KernelService } from '../kernel-process/kernel.service.js';

type Kernel = Pick<KernelService, 'clientOf' | 'runsElsewhere'>;

/** As it was when the connection came: a socket that has closed no longer names its peer. */
interface Arrival {
  readonly ends: Pick<OwnServiceConnection, 'from' | 'to'>;
  readonly acceptedAt: number;
  /** Asked once a connection: the kernel shares none between clients. */
  client?: Promise<string | null>;
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Gives requests that came through our own proxy the address of the proxy's client, for login limits and the audit log.
 * Where a rule leads clients here, their connections come from the kernel's machine. The kernel is asked, by the
 * connection's two ends; headers are the client's to choose and say nothing here. Reads are left alone.
 */
export function nameProxyClients(server: Server, kernel: Kernel): RequestHandler {
  const arrivals = new WeakMap<Socket, Arrival>();
  server.on('connection', (socket: Socket) => arrivals.set(socket, arrivalOf(socket)));
  return async (request, _response, next) => {
    const arrival = arrivals.get(request.socket);
    if (arrival === undefined || READS.has(request.method) || !mayBeKernels(arrival, kernel)) return next();
    try {
      arrival.client ??= ask(arrival, kernel);
      const client = await arrival.client;
      if (client !== null) assignClientAddress(request, client);
    } catch (error) {
      delete arrival.client;
      // Nobody guesses passwords under the address of this machine while the kernel is too busy to say whose they are.
      if (isAboutPasswords(request)) return next(error);
    }
    return next();
  };
}

function arrivalOf({ remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 }: Socket): Arrival {
  const ends = { from: { address: remoteAddress, port: remotePort }, to: { address: localAddress, port: localPort } };
  return { ends, acceptedAt: performance.now() };
}

function ask({ ends, acceptedAt }: Arrival, kernel: Kernel): Promise<string | null> {
  return kernel.clientOf({ ...ends, ageMs: performance.now() - acceptedAt });
}

/** A kernel on this machine connects from a loopback address, or from the one that it connects to. */
function mayBeKernels({ ends: { from, to } }: Arrival, { runsElsewhere }: Kernel): boolean {
  return runsElsewhere || from.address === to.address || isLoopback(from.address);
}

function isAboutPasswords({ path }: Request): boolean {
  return path.toLowerCase().includes('/auth/');
}
