import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** `hang`: no answer ever. A number: this status. */
export type ConnectAnswer = 'connect' | 'hang' | number;

/** An HTTP proxy for CONNECT that notes what it is asked for. Every name leads to this machine. */
export class ConnectProxy {
  answer: ConnectAnswer = 'connect';
  /** `host:port` of each CONNECT. */
  readonly asked: string[] = [];
  port = 0;
  readonly #tls: { cert: string; key: string } | undefined;
  readonly #sockets = new Set<Duplex>();
  #server: Server | null = null;

  private constructor(tls: { cert: string; key: string } | undefined) {
    this.#tls = tls;
  }

  static async start(tls?: { cert: string; key: string }): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(tls);
    await proxy.open();
    return proxy;
  }

  /** Opens the port: that of before, if there was one. */
  async open(): Promise<void> {
    const server = this.#tls ? createHttpsServer(this.#tls) : createHttpServer();
    this.#server = server;
    server.on('connection', (socket: Socket) => this.#keep(socket));
    server.on('connect', ({ url = '' }, client) => this.#connect(url, client));
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
  }

  /** Ends at once, with everything that goes through it. */
  async die(): Promise<void> {
    const closed = this.#server && once(this.#server, 'close');
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #connect(place: string, client: Duplex): void {
    client.on('error', () => undefined);
    this.asked.push(place);
    if (this.answer === 'hang') return;
    if (this.answer !== 'connect') {
      return void client.end(`HTTP/1.1 ${this.answer} No\r\nContent-Length: 0\r\n\r\n`);
    }
    const server = connect(Number(place.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(server).pipe(client);
    });
    this.#keep(server);
    server.on('close', () => client.destroy());
    client.on('close', () => server.destroy());
  }

  #keep(socket: Duplex): void {
    socket.on('error', () => undefined);
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
