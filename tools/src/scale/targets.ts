import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { Origin } from '../tour/origin.js';
import type { Place } from './visits.js';

export const FILE_BYTES = 10_000;
export const FILE_NAME = 'page.txt';

/** What tunnels, hosts and the proxy lead to: echoes, a web server, a folder. */
export class Targets implements AsyncDisposable {
  private constructor(
    private readonly echo: Server,
    private readonly datagramEcho: ReturnType<typeof createSocket>,
    private readonly origin: Origin,
    readonly folder: string,
  ) {}

  /** `home`: where the folder is made. */
  static async start(home: string): Promise<Targets> {
    const folder = join(home, 'shared');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, FILE_NAME), 'f'.repeat(FILE_BYTES));
    return new Targets(await startEcho(), await startDatagramEcho(), await Origin.start(), folder);
  }

  get stream(): Place {
    return { host: '127.0.0.1', port: (this.echo.address() as AddressInfo).port };
  }

  get datagrams(): Place {
    return { host: '127.0.0.1', port: this.datagramEcho.address().port };
  }

  get web(): Place {
    return { host: '127.0.0.1', port: this.origin.port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.origin.close();
    this.datagramEcho.close();
    this.echo.close();
  }
}

async function startEcho(): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => {
    socket.on('error', () => undefined).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function startDatagramEcho(): Promise<ReturnType<typeof createSocket>> {
  const socket = createSocket('udp4');
  socket.on('error', () => undefined);
  socket.on('message', (message, from) => socket.send(message, from.port, from.address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}
