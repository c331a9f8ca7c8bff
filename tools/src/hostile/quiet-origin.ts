import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type ServerResponse, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

const BLOCK = Buffer.alloc(4_096, 0x67);
const EVERY_MS = 50;
export const PAGE = Buffer.alloc(1_000, 0x70);

/** The web server and the echo of the bystanders: `/drip` goes on until endDrips(), every other path is one short page. */
export class QuietOrigin {
  private readonly dripping = new Set<ServerResponse>();
  private readonly sockets = new Set<Socket>();
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly server: Server,
    private readonly udp: UdpSocket,
  ) {
    server.keepAliveTimeout = 600_000;
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request, response) => {
      response.on('error', () => undefined);
      if (request.url !== '/drip') return void response.end(PAGE);
      this.dripping.add(response);
      response.on('close', () => this.dripping.delete(response));
    });
    this.timer = setInterval(() => {
      for (const response of this.dripping) if (!response.writableNeedDrain) response.write(BLOCK);
    }, EVERY_MS);
    udp.on('message', (data, { port, address }) => udp.send(data, port, address));
    udp.on('error', () => undefined);
  }

  static async start(): Promise<QuietOrigin> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const udp = createSocket('udp4').bind(0, '127.0.0.1');
    await once(udp, 'listening');
    return new QuietOrigin(server, udp);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get udpPort(): number {
    return this.udp.address().port;
  }

  /** Every download that runs comes to its end. */
  endDrips(): void {
    for (const response of this.dripping) response.end();
    this.dripping.clear();
  }

  close(): void {
    clearInterval(this.timer);
    this.server.close();
    this.udp.close();
    for (const socket of this.sockets) socket.destroy();
  }
}
