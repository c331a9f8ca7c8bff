import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands in for a load balancer without health checks: each connection goes to the first of several ports that accepts it. */
export class FirstOf {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly ports: () => readonly number[],
  ) {
    server.on('connection', (socket: Socket) => this.forward(this.kept(socket), [...this.ports()]));
  }

  static async listen(ports: () => readonly number[]): Promise<FirstOf> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FirstOf(server, ports);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private forward(socket: Socket, [port, ...others]: number[]): void {
    if (port === undefined) return void socket.destroy();
    const target = this.kept(connect(port, '127.0.0.1'));
    const refused = (): void => this.forward(socket, others);
    target.once('error', refused);
    target.once('connect', () => {
      target.off('error', refused);
      socket.pipe(target).pipe(socket);
      socket.once('close', () => target.destroy());
      target.once('close', () => socket.destroy());
    });
  }

  private kept(socket: Socket): Socket {
    this.sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
  }
}
