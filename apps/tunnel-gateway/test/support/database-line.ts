import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to the database that can be cut: connections are reset, and none is taken until it is mended. */
export class DatabaseLine {
  readonly url: string;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private broken = false;

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  static async to(databaseUrl: string): Promise<DatabaseLine> {
    const target = new URL(databaseUrl);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const line = new DatabaseLine(server, url.href);
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

  private join(near: Socket, { hostname, port }: URL): void {
    near.on('error', () => undefined);
    if (this.broken) return void near.resetAndDestroy();
    const far = connect(Number(port), hostname);
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
