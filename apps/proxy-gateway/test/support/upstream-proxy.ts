import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** An HTTP proxy for tests that stands for a node and records its targets. */
export interface UpstreamProxy extends AsyncDisposable {
  port: number;
  targets: string[];
  /** Whether a connection that a server accepted came through a tunnel of this proxy. */
  isOurs(socket: Socket): boolean;
  /** Refuses new connections from now on; open ones stay. */
  stopListening(): void;
}

export async function startUpstreamProxy(): Promise<UpstreamProxy> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const tunnelPorts = new Set<number>();
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url!);
    targets.push(url.host);
    const forwarded = request(url, { method: incoming.method!, headers: incoming.headers }, (reply) => {
      outgoing.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('connect', ({ url }, client: Socket) => {
    targets.push(url!);
    const [host, port] = url!.split(':');
    const target = connect(Number(port), host!, () => {
      tunnelPorts.add(target.localPort!);
      client.write('HTTP/1.1 200 OK\r\n\r\n');
    });
    const end = (): void => {
      target.destroy();
      client.destroy();
    };
    for (const socket of [client, target]) socket.on('error', end).on('close', end);
    target.pipe(client).pipe(target);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    targets,
    isOurs: ({ remotePort }) => tunnelPorts.has(remotePort!),
    stopListening: () => void server.close(),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      const ended = server.listening ? once(server, 'close') : null;
      server.close();
      await ended;
    },
  };
}
