import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback } from '@gatehouse/net';
import { assignClientAddress } from '@gatehouse/platform';
import type { Request, RequestHandler } from 'express';
import type { KernelService } from '../kernel-host/kernel.service.js';

type Kernel = Pick<KernelService, 'clientOf' | 'runsElsewhere'>;

interface Arrival {
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
  server.on('connection', (socket: Socket) => arrivals.set(socket, { acceptedAt: performance.now() }));
  return (request, _response, next) => {
    const arrival = arrivals.get(request.socket);
    if (arrival === undefined || READS.has(request.method) || !mayBeKernels(request.socket, kernel)) return next();
    arrival.client ??= ask(request.socket, arrival.acceptedAt, kernel);
    arrival.client.then(
      (client) => {
        if (client !== null) assignClientAddress(request, client);
        next();
      },
      (error: unknown) => {
        delete arrival.client;
        // Nobody guesses passwords under the address of this machine while the kernel is too busy to say whose they are.
        next(isAboutPasswords(request) ? error : undefined);
      },
    );
  };
}

function ask({ remoteAddress, remotePort, localAddress, localPort }: Socket, acceptedAt: number, kernel: Kernel) {
  return kernel.clientOf({
    from: { address: remoteAddress ?? '', port: remotePort ?? 0 },
    to: { address: localAddress ?? '', port: localPort ?? 0 },
    ageMs: performance.now() - acceptedAt,
  });
}

/** A kernel on this machine connects from a loopback address, or from the one that it connects to. */
function mayBeKernels({ remoteAddress, localAddress }: Socket, { runsElsewhere }: Kernel): boolean {
  if (remoteAddress === undefined) return false;
  return runsElsewhere || remoteAddress === localAddress || isLoopback(remoteAddress);
}

function isAboutPasswords({ path }: Request): boolean {
  return path.toLowerCase().includes('/auth/');
}
