import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { NewTunnelClientView } from '@gatehouse/contracts';
import { withClient } from '@gatehouse/persistence';
import { reservePort, waitFor } from '@gatehouse/testing';
import { TunnelAgent, type AgentStatus } from '@gatehouse/tunnel-kernel';
import type { EdgeLauncher } from '../../src/edge-host/edge-launcher.js';
import { Edges } from '../../src/edge-host/edges.service.js';
import { Users } from '../../src/users/users.service.js';
import type { UserRole } from '../../src/data/user.entity.js';
import { startGateway, type GatewayApp } from '../gateway-app.js';

const PASSWORD = 'correct horse battery';
const quiet = (): void => undefined;

/** Whatever JSON holds; a test that reads something wrong from it fails by itself. */
export type AnyJson = ReturnType<JSON['parse']>;

export interface Answer {
  status: number;
  body: AnyJson;
  type: string | null;
}

/** A user who calls the API. */
export type Caller = (method: string, path: string, body?: unknown) => Promise<Answer>;

export interface RunningAgent {
  agent: TunnelAgent;
  history: AgentStatus[];
}

/** A gateway with its edge, its administrator, agents and targets; ends with `close`. */
export class TunnelWorld implements AsyncDisposable {
  readonly gateway: GatewayApp;
  readonly admin: Caller;
  private readonly cleanups: (() => unknown)[] = [];

  private constructor(gateway: GatewayApp, admin: Caller) {
    this.gateway = gateway;
    this.admin = admin;
  }

  /** `reach` answers the way by which the gateway gets to its database; `launcher` starts edges, from source by default. */
  static async start(
    env: Record<string, string> = {},
    reach?: (databaseUrl: string) => Promise<string>,
    launcher?: EdgeLauncher,
  ): Promise<TunnelWorld> {
    const gateway = await startGateway({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD, ...env }, reach, launcher);
    return new TunnelWorld(gateway, await logIn(gateway, 'admin'));
  }

  get edges(): Edges {
    return this.gateway.app.get(Edges, { strict: false });
  }

  /** Another user, logged in, and their id. */
  async user(username: string, role: UserRole = 'user'): Promise<{ call: Caller; id: number }> {
    await this.gateway.app.get(Users, { strict: false }).create({ username, password: PASSWORD, role });
    const call = await logIn(this.gateway, username);
    return { call, id: (await call('GET', '/auth/me')).body.id };
  }

  /** Gives names to a user, as an administrator does: hosts of them, and of what is below, are theirs to make. */
  async assign(user: { id: number }, ...names: string[]): Promise<void> {
    for (const name of names) {
      const { status, body } = await this.admin('POST', '/domains', { name, user_id: user.id });
      if (status !== 201) throw new Error(JSON.stringify(body));
    }
  }

  async client(body: object = {}, call = this.admin): Promise<NewTunnelClientView> {
    const { status, body: client } = await call('POST', '/clients', { name: 'home', ...body });
    if (status !== 201) throw new Error(JSON.stringify(client));
    return client;
  }

  /** An agent with the key that a client was given. */
  agent(key: string): RunningAgent {
    const history: AgentStatus[] = [];
    const agent = new TunnelAgent({
      server: { host: '127.0.0.1', port: this.edges.ports.agents },
      key,
      now: Date.now,
      random: () => 0.1,
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      software: 'test-agent/1',
      events: { status: (status) => history.push(status) },
    });
    this.cleanups.push(() => agent.stop());
    agent.start();
    return { agent, history };
  }

  async online(key: string): Promise<RunningAgent> {
    const running = this.agent(key);
    await waitFor(() => running.agent.status.state === 'online');
    return running;
  }

  /** A tunnel on loopback that runs. */
  async tunnel(clientId: number, targetPort: number, body: object = {}): Promise<AnyJson> {
    const made = await this.admin('POST', '/tunnels', {
      client_id: clientId,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await reservePort(),
      target_addr: `127.0.0.1:${targetPort}`,
      ...body,
    });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return waitFor(async () => {
      const { body: tunnel } = await this.admin('GET', `/tunnels/${made.body.id}`);
      return tunnel.run_status === 1 && tunnel;
    });
  }

  /** A server that sends back what it gets. */
  async echo(): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', quiet);
      sockets.add(socket.on('close', () => sockets.delete(socket)));
      socket.pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.cleanups.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  /** A visitor who is connected. */
  async visit(port: number): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', quiet);
    this.cleanups.push(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  }

  ask(port: number, text: string): Promise<string | null> {
    return ask(port, text);
  }

  async rows<T extends object = AnyJson>(sql: string, values: unknown[] = []): Promise<T[]> {
    return withClient(this.gateway.databaseUrl, async (client) => (await client.query<T>(sql, values)).rows);
  }

  onClose(cleanup: () => unknown): void {
    this.cleanups.push(cleanup);
  }

  async close(): Promise<void> {
    for (const cleanup of this.cleanups.splice(0).reverse()) await cleanup();
    await this.gateway.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function logIn(gateway: GatewayApp, username: string): Promise<Caller> {
  return caller(gateway.url, { authorization: `Bearer ${await bearerOf(gateway, username)}` });
}

/** A token of one of the world's users. */
export async function bearerOf(gateway: GatewayApp, username: string): Promise<string> {
  const anonymous = caller(gateway.url, {});
  return (await anonymous('POST', '/auth/login', { username, password: PASSWORD })).body.token;
}

export function caller(url: string, headers: Record<string, string>): Caller {
  return async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const text = isStream ? JSON.stringify(await firstMessage(response)) : await response.text();
    return {
      status: response.status,
      body: text === '' ? null : JSON.parse(text),
      type: response.headers.get('content-type'),
    };
  };
}

/** A stream does not end on its own: its first message is enough. */
async function firstMessage(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  // Leaving the loop ends the request.
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (/^data:.*\n\n/m.test(text)) break;
  }
  return text;
}

/** However it ends. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** What comes back of what a new visitor sends; null when the connection is refused or reset. */
export function ask(port: number, text: string): Promise<string | null> {
  return askFrom('127.0.0.1', port, text);
}

/** As `ask`, from an address of this machine. */
export async function askFrom(localAddress: string, port: number, text: string): Promise<string | null> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  try {
    socket.end(text);
    const parts: Buffer[] = [];
    for await (const part of socket) parts.push(part as Buffer);
    return Buffer.concat(parts).toString();
  } catch {
    return null;
  }
}
