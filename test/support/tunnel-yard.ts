import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  EMPTY_CONFIG,
  formatAgentKey,
  TunnelAgent,
  TunnelServer,
  type ClientConfig,
  type ClientRecord,
  type HostConfig,
  type HostTarget,
  type TunnelAgentEnvironment,
  type TunnelConfig,
  type TunnelServerConfig,
  type TunnelServerEnvironment,
  type TunnelState,
} from '@gatehouse/tunnel-kernel';
import { waitFor } from '@gatehouse/testing';

const quiet = (): void => undefined;
export const quietLogger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

export interface YardClient {
  id: number;
  secret: string;
  key: string;
  record: ClientRecord;
  config: ClientConfig;
}

/** A tunnel server with clients, agents and targets on loopback, that can be restarted; ends with `close`. */
export class TunnelYard {
  readonly identity = createServerIdentity();
  server: TunnelServer;
  port = 0;
  http = 0;
  https = 0;
  readonly #clients = new Map<string, YardClient>();
  readonly #options: Partial<TunnelServerEnvironment>;
  readonly #cleanups: (() => unknown)[] = [];
  #revision = 0;

  private constructor(options: Partial<TunnelServerEnvironment>) {
    this.#options = options;
    this.server = this.#create();
  }

  static async start(options: Partial<TunnelServerEnvironment> = {}): Promise<TunnelYard> {
    const yard = new TunnelYard(options);
    await yard.listen();
    return yard;
  }

  /** Opens the ports: those that it had before, where it had some. */
  async listen(): Promise<void> {
    const host = '127.0.0.1';
    this.port = await this.server.listen({ host, port: this.port });
    this.http = await this.server.listenHttp({ host, port: this.http });
    this.https = await this.server.listenHttps({ host, port: this.https });
  }

  /** Another server on the same ports. */
  async restart(): Promise<void> {
    this.server = this.#create();
    await this.listen();
  }

  client(more: Partial<ClientConfig> & { encrypt?: boolean } = {}): YardClient {
    const { encrypt = false, ...rest } = more;
    const secret = createAgentSecret();
    const id = this.#clients.size + 1;
    const record = { id, keyHash: agentKeyHash(secret), enabled: true, encrypt };
    const config = { id, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0, ...rest };
    const key = formatAgentKey({ secret, fingerprint: this.identity.fingerprint });
    const client = { id, secret, key, record, config };
    this.#clients.set(record.keyHash, client);
    return client;
  }

  /** An agent that is started. */
  agent(client: YardClient, more: Partial<TunnelAgentEnvironment> = {}): TunnelAgent {
    const server = { host: '127.0.0.1', port: this.port };
    const agent = new TunnelAgent({
      server,
      key: client.key,
      now: Date.now,
      random: () => 0.1,
      logger: quietLogger,
      ...more,
    });
    this.#cleanups.push(() => agent.stop());
    agent.start();
    return agent;
  }

  /** A client whose agent is online. */
  async member(
    more: Partial<ClientConfig> & { encrypt?: boolean } = {},
    agent: Partial<TunnelAgentEnvironment> = {},
  ): Promise<YardClient> {
    const client = this.client(more);
    this.agent(client, agent);
    await this.online(client);
    return client;
  }

  async online({ id }: YardClient): Promise<void> {
    await waitFor(() => this.server.agents().some(({ clientId }) => clientId === id));
  }

  /** Serves this and nothing else, for all clients. */
  apply(more: Partial<TunnelServerConfig>): Promise<TunnelState[]> {
    const clients = [...this.#clients.values()].map(({ config }) => config);
    return this.server.apply({ ...EMPTY_CONFIG, revision: (this.#revision += 1), clients, ...more });
  }

  /** The public port of a tunnel, alone in the configuration. */
  async open(client: YardClient, targets: number[], more: Partial<TunnelConfig> = {}): Promise<number> {
    const [state] = await this.apply({ tunnels: [this.tunnel(client, targets, more)] });
    return state?.port ?? 0;
  }

  tunnel({ id: clientId }: YardClient, ports: number[], more: Partial<TunnelConfig> = {}): TunnelConfig {
    const targets = ports.map((port) => ({ host: '127.0.0.1', port, weight: 1 }));
    return { id: 7, clientId, mode: 'tcp', listen: { host: '127.0.0.1', port: 0 }, targets, ...more };
  }

  host({ id: clientId }: YardClient, targets: (number | HostTarget)[], more: Partial<HostConfig> = {}): HostConfig {
    return {
      id: 11,
      clientId,
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

  /** A TCP server on loopback. */
  async target(serve: (socket: Socket) => void, on = 0): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', quiet);
      sockets.add(socket.on('close', () => sockets.delete(socket)));
      serve(socket);
    }).listen(on, '127.0.0.1');
    await once(server, 'listening');
    this.onClose(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  echo(): Promise<number> {
    return this.target((socket) => socket.pipe(socket));
  }

  /** Sends `name` to each client, and ends the connection. */
  named(name: string, on = 0): Promise<number> {
    return this.target((socket) => socket.end(name), on);
  }

  async udpSocket(): Promise<UdpSocket> {
    const socket = createSocket('udp4');
    socket.on('error', quiet);
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    this.onClose(() => socket.close());
    return socket;
  }

  async udpEcho(): Promise<number> {
    const socket = await this.udpSocket();
    socket.on('message', (bytes, { port, address }) => socket.send(bytes, port, address));
    return socket.address().port;
  }

  onClose(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
    await this.server.stop();
  }

  #create(): TunnelServer {
    return new TunnelServer({
      now: Date.now,
      logger: quietLogger,
      identity: this.identity,
      clients: { findByKeyHash: async (hash) => this.#clients.get(hash)?.record ?? null },
      ...this.#options,
    });
  }
}
