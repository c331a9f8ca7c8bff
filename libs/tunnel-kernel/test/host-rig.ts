import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { HostConfig, HostTarget, HttpOptions, TunnelAgent, TunnelServerEnvironment } from '../src/index.js';
import { TunnelRig, type TestClient } from './tunnel-rig.js';

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  trailers: IncomingMessage['trailers'];
  body: string;
}

/** The body as the text that people read; `body` itself has a character for each byte. */
export function textOf({ body }: Pick<Answer, 'body'>): string {
  return Buffer.from(body, 'latin1').toString('utf8');
}

export interface Asked {
  method?: string;
  path?: string;
  host?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

/** A tunnel with one client that is online, a port for HTTP and one for HTTPS. */
export class HostRig extends TunnelRig {
  http = 0;
  https = 0;
  readonly owner: TestClient;
  /** The agent that is online from the start. */
  served: TunnelAgent | null = null;
  private readonly origins: Server[] = [];

  private constructor(options: Partial<TunnelServerEnvironment>, encrypt: boolean) {
    super(options);
    this.owner = this.client(encrypt);
  }

  static async start(
    http: HttpOptions = {},
    options: Partial<TunnelServerEnvironment> & { encrypt?: boolean } = {},
  ): Promise<HostRig> {
    const { encrypt = false, ...environment } = options;
    const rig = new HostRig({ ...environment, http }, encrypt);
    await rig.listen();
    rig.http = await rig.server.listenHttp({ host: '127.0.0.1', port: 0 });
    rig.https = await rig.server.listenHttps({ host: '127.0.0.1', port: 0 });
    rig.served = rig.agent(rig.owner.key).agent;
    await rig.online(rig.owner.record.id);
    return rig;
  }

  hostConfig(targets: (number | HostTarget)[], more: Partial<HostConfig> = {}): HostConfig {
    return {
      id: 12,
      clientId: this.owner.record.id,
      host: 'a.test',
      location: '/',
      scheme: 'all',
      targets: targets.map((target) =>
        typeof target === 'number'
          ? { host: '127.0.0.1', port: target, weight: 1, scheme: 'http', insecure: false }
          : target,
      ),
      certificate: null,
      redirectToHttps: false,
      rewriteHost: null,
      requestHeaders: {},
      responseHeaders: {},
      ...more,
    };
  }

  /** Serves these hosts and no others. */
  async serve(...hosts: HostConfig[]): Promise<void> {
    await this.server.apply(this.config({ hosts }));
  }

  /** A target that speaks HTTP. */
  async origin(listener: RequestListener, prepare: (server: Server) => void = () => undefined): Promise<number> {
    const server = createServer(listener);
    prepare(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.origins.push(server);
    return (server.address() as AddressInfo).port;
  }

  ask({ method = 'GET', path = '/', host = 'a.test', headers = {}, body }: Asked = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          port: this.http,
          host: '127.0.0.1',
          method,
          path,
          agent: false,
          setHost: false,
          headers: { host, ...headers },
        },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('error', reject);
          answer.on('end', () => {
            const { statusCode: status = 0, headers: fields, rawHeaders, trailers } = answer;
            resolve({ status, headers: fields, rawHeaders, trailers, body: Buffer.concat(parts).toString('latin1') });
          });
        },
      );
      asked.on('error', reject);
      asked.end(body);
    });
  }

  /** Writes these bytes to the port for HTTP and answers everything that comes until the connection ends. */
  async raw(text: string): Promise<string> {
    const socket = connect({ port: this.http, host: '127.0.0.1', allowHalfOpen: true });
    return readUntilEnd(socket, text);
  }

  override async close(): Promise<void> {
    await super.close();
    for (const origin of this.origins) {
      origin.closeAllConnections();
      origin.close();
    }
  }
}

export function readUntilEnd(socket: Socket, text: string): Promise<string> {
  return new Promise((resolve) => {
    let read = '';
    socket.setEncoding('latin1');
    socket.on('data', (part: string) => (read += part));
    socket.on('error', () => resolve(read));
    socket.on('end', () => {
      socket.destroy();
      resolve(read);
    });
    socket.write(text, 'latin1');
  });
}
