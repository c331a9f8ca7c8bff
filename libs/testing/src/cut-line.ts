import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut: connections are reset, and none is taken until it is mended. */
export class CutLine {
  /** On 127.0.0.1. */
  readonly port: number;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private broken = false;

  private constructor(server: Server) {
    this.server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async to(target: { host: string; port: number }): Promise<CutLine> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const line = new CutLine(server);
    server.on('connection', (near) => line.join(near, target));
    return line;
  }

  cut(): void {
    this.broken = true;
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  mend(): void {
    this.broken = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(near: Socket, { host, port }: { host: string; port: number }): void {
    near.on('error', () => undefined);
    if (this.broken) return void near.resetAndDestroy();
    const far = connect(port, host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
