import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  EMPTY_CONFIG,
  formatAgentKey,
  TunnelAgent,
  TunnelServer,
  type AgentStatus,
  type ClientRecord,
  type FlowRecord,
  type TunnelAgentEnvironment,
  type TunnelConfig,
  type TunnelServerConfig,
  type TunnelServerEnvironment,
} from '../src/index.js';
import { AgentLine } from './agent-line.js';

const quiet = (): void => undefined;
export const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

export interface TestClient {
  record: ClientRecord;
  key: string;
}

/** A server with clients, agents and targets of its own, all on loopback; ends with `close`. */
export class TunnelRig {
  readonly identity: ReturnType<typeof createServerIdentity>;
  readonly clients: Map<string, ClientRecord>;
  readonly records: FlowRecord[] = [];
  readonly failures: string[] = [];
  readonly agents: { agent: TunnelAgent; history: AgentStatus[] }[] = [];
  server: TunnelServer;
  port = 0;
  private revision = 0;
  private readonly options: Partial<TunnelServerEnvironment>;
  private readonly cleanups: (() => unknown)[] = [];

  /** `like`: another server of the same gateway, with the same key and clients. */
  constructor(options: Partial<TunnelServerEnvironment> = {}, like?: TunnelRig) {
    this.options = options;
    this.identity = like?.identity ?? createServerIdentity();
    this.clients = like?.clients ?? new Map();
    this.server = this.createServer();
  }

  private createServer(): TunnelServer {
    return new TunnelServer({
      now: Date.now,
      logger,
      identity: this.identity,
      clients: { findByKeyHash: async (hash) => this.clients.get(hash) ?? null },
      events: {
        flowClosed: (record) => this.records.push(record),
        targetFailed: (_, reason) => this.failures.push(reason),
      },
      ...this.options,
      // On the loopback every agent is near.
      datagrams: { nearMs: 0, ...this.options.datagrams },
    });
  }

  async listen(): Promise<void> {
    this.port = await this.server.listen({ host: '127.0.0.1', port: this.port });
  }

  /** Another server on the same port, as after a restart. */
  async restart(): Promise<void> {
    this.server = this.createServer();
    await this.listen();
  }

  client(encrypt = false): TestClient {
    const secret = createAgentSecret();
    const record = { id: this.clients.size + 1, keyHash: agentKeyHash(secret), enabled: true, encrypt };
    this.clients.set(record.keyHash, record);
    return { record, key: formatAgentKey({ secret, fingerprint: this.identity.fingerprint }) };
  }

  agent(key: string, options: Partial<TunnelAgentEnvironment> = {}): { agent: TunnelAgent; history: AgentStatus[] } {
    const history: AgentStatus[] = [];
    const agent = new TunnelAgent({
      server: { host: '127.0.0.1', port: this.port },
      key,
      now: Date.now,
      random: () => 0.1,
      logger,
      // Not also port 443 of this machine.
      transport: 'raw',
      ...options,
      events: { ...options.events, status: (status) => history.push(status) },
    });
    this.cleanups.push(() => agent.stop());
    agent.start();
    const running = { agent, history };
    this.agents.push(running);
    return running;
  }

  async online(clientId: number): Promise<void> {
    await waitFor(() => this.server.agents().some((agent) => agent.clientId === clientId));
  }

  /** A configuration of all clients of this rig. */
  config(more: Partial<TunnelServerConfig>): TunnelServerConfig {
    const clients = [...this.clients.values()].map(({ id, enabled }) => ({
      id,
      userId: 1,
      enabled,
      expiresAt: null,
      rateLimit: 0,
      maxConnections: 0,
    }));
    return { ...EMPTY_CONFIG, revision: (this.revision += 1), clients, ...more };
  }

  /** A tunnel on a port that the system chooses, in mode `tcp` unless another is given. */
  tunnelConfig(clientId: number, targetPorts: number[], more: Partial<TunnelConfig> = {}): TunnelConfig {
    const targets = targetPorts.map((port) => ({ host: '127.0.0.1', port, weight: 1 }));
    return { id: 7, clientId, mode: 'tcp', listen: { host: '127.0.0.1', port: 0 }, targets, ...more };
  }

  /** The public port of a tunnel to `targetPorts`, alone in the configuration. */
  async tunnel(clientId: number, targetPorts: number[], more: Partial<TunnelConfig> = {}): Promise<number> {
    const tunnels = [this.tunnelConfig(clientId, targetPorts, more)];
    const [state] = await this.server.apply(this.config({ tunnels }));
    return state?.port ?? 0;
  }

  async target(serve: (socket: Socket) => void, on = 0): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', quiet);
      sockets.add(socket.on('close', () => sockets.delete(socket)));
      serve(socket);
    }).listen(on, '127.0.0.1');
    await once(server, 'listening');
    this.cleanups.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  echo(): Promise<number> {
    return this.target((socket) => socket.pipe(socket));
  }

  /** A visitor, connected. */
  async visit(port: number): Promise<Socket> {
    const socket = this.visitor(port);
    await once(socket, 'connect');
    return socket;
  }

  /** A visitor who is connecting. */
  visitor(port: number): Socket {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    socket.on('error', quiet);
    this.cleanups.push(() => socket.destroy());
    return socket;
  }

  /** A line between agents and the server that can be cut or go dead. */
  async line(): Promise<AgentLine> {
    const line = new AgentLine(() => this.port);
    line.port = await this.target((near) => line.accept(near));
    return line;
  }

  /** An agent of a new client that reaches the server over a line, connected. */
  async agentOnLine(encrypt = false, options: Partial<TunnelAgentEnvironment> = {}): Promise<AgentLine> {
    const { key, record } = this.client(encrypt);
    const line = await this.line();
    this.agent(key, { server: { host: '127.0.0.1', port: line.port }, ...options });
    await this.online(record.id);
    return line;
  }

  /** Of the only agent. */
  get idleChannels(): number {
    return this.server.agents()[0]?.idleChannels ?? 0;
  }

  /** What a visitor gets who says `text` and no more. */
  async answerTo(port: number, text: string): Promise<string> {
    const visitor = await this.visit(port);
    visitor.end(text);
    return String(await readAll(visitor));
  }

  /** A port that nobody listens on. */
  async unusedPort(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return port;
  }

  /** A port that another program uses until it is released. */
  async occupiedPort(): Promise<{ port: number; release: () => Promise<unknown> }> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    return { port, release: () => (server.close(), once(server, 'close')) };
  }

  async close(): Promise<void> {
    for (const cleanup of this.cleanups.splice(0).reverse()) await cleanup();
    await this.server.stop();
  }
}

/** All that comes until the end. Rejects when the socket is reset. */
export function readAll(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('end', () => resolve(Buffer.concat(parts)));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed without an end')));
  });
}

/** The code of the error that ends a socket, `end` for one that ends without. */
export function howItEnds(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.resume();
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once('end', () => resolve('end'));
  });
}
