import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server on loopback that ends with the test. */
export interface LocalServer extends AsyncDisposable {
  port: number;
}

/** The test address of nodes: answers 204 by default. */
export interface TestOrigin extends LocalServer {
  url: string;
  reply: RequestListener;
  requests: number;
}

export async function startTestOrigin(): Promise<TestOrigin> {
  const server = createServer((request, response) => {
    origin.requests += 1;
    origin.reply(request, response);
  });
  const local = await listen(server);
  const origin: TestOrigin = {
    ...local,
    url: `http://127.0.0.1:${local.port}/generate_204`,
    reply: (_request, response) => response.writeHead(204).end(),
    requests: 0,
  };
  return origin;
}

/** Accepts connections and stays silent, so that clients run into their own timeouts. */
export interface SilentServer extends LocalServer {
  /** Connections that are open now. */
  open: () => number;
  /** The most that were open at once. */
  peak: () => number;
}

export async function startSilentServer(): Promise<SilentServer> {
  let peak = 0;
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    peak = Math.max(peak, sockets.size);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.resume();
  });
  const local = await listen(server);
  return { ...local, open: () => sockets.size, peak: () => peak };
}

async function listen(server: Server): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A loopback port that nothing listens on. */
export async function closedPort(): Promise<number> {
  const server = await listen(createTcpServer());
  await server[Symbol.asyncDispose]();
  return server.port;
}
