import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withClient } from '@gatehouse/persistence';
import { createTestDatabase, programEnvironment, reservePort, type TestDatabase } from '@gatehouse/testing';
import { TunnelAgent } from '@gatehouse/tunnel-kernel';
import { SERVICE } from '../../src/service.js';
import { caller, type AnyJson, type Caller } from './tunnel-world.js';

const PASSWORD = 'correct horse battery';
const quiet = (): void => undefined;
const programFile = (name: string): string => fileURLToPath(new URL(`../../bundle/${name}.js`, import.meta.url));

export interface Started {
  child: ChildProcess;
  errors(): string;
  /** Its first message. */
  message: Promise<AnyJson>;
  exit: Promise<number | null>;
}

/** An edge of its own, and its ports. */
export interface StartedEdge extends Started {
  channel: number;
  health: number;
  agents: number;
  http: number;
}

/** The built programs of this service as processes on one database, each with a home of its own, as containers have. */
export class Programs {
  readonly database: TestDatabase;
  private readonly folder = mkdtempSync(join(tmpdir(), 'programs-'));
  private readonly env: Record<string, string>;
  private readonly children: ChildProcess[] = [];
  private readonly agents: TunnelAgent[] = [];

  private constructor(database: TestDatabase) {
    this.database = database;
    this.env = {
      ...programEnvironment(),
      DATABASE_URL: database.url,
      GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
      GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64'),
      LOG_LEVEL: 'error',
      TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
      TUNNEL_GATEWAY_PORT: '0',
      TUNNEL_HTTPS_PORT: '0',
    };
  }

  /** On a migrated database. */
  static async create(): Promise<Programs> {
    if (!existsSync(programFile('edge'))) throw new Error('apps/tunnel-gateway/bundle is missing: run npm run build');
    const prepare = (databaseUrl: string): Promise<unknown> => SERVICE.migrate({ databaseUrl });
    return new Programs(await createTestDatabase({ template: { key: 'tunnel_gateway', prepare } }));
  }

  start(name: 'main' | 'edge', home: string, more: Record<string, string> = {}): Started {
    const folder = join(this.folder, home);
    mkdirSync(folder, { recursive: true });
    const env = { ...this.env, GATEHOUSE_HOME: folder, ...more };
    const child = fork(programFile(name), [], { env, silent: true, execArgv: [] });
    this.children.push(child);
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.stdout?.resume();
    const message = once(child, 'message').then(([value]) => value as AnyJson);
    return { child, errors: () => errors, message, exit: once(child, 'exit').then(([code]) => code as number | null) };
  }

  /** An edge that serves. `name`: also of its home. */
  async edge(name: string, more: Record<string, string> = {}): Promise<StartedEdge> {
    const ports = [await reservePort(), await reservePort(), await reservePort(), await reservePort()] as const;
    const [channel, health, agents, http] = ports;
    const started = this.start('edge', name, {
      TUNNEL_EDGE_NAME: name,
      TUNNEL_AGENT_PORT: String(agents),
      TUNNEL_HTTP_PORT: String(http),
      TUNNEL_EDGE_HEALTH_PORT: String(health),
      TUNNEL_EDGE_CHANNEL: `127.0.0.1:${channel}`,
      ...more,
    });
    const { type, lines } = await started.message;
    if (type !== 'ready') throw new Error(lines);
    return { ...started, channel, health, agents, http };
  }

  /** A service that administrates the edge, and an administrator of it. */
  async service({ channel }: Pick<StartedEdge, 'channel'>): Promise<Started & { url: string; call: Caller }> {
    const started = this.start('main', 'main', {
      TUNNEL_EDGE: 'separate',
      TUNNEL_EDGE_CHANNEL: `127.0.0.1:${channel}`,
    });
    const { type, port, lines } = await started.message;
    if (type !== 'ready') throw new Error(lines);
    const url = `http://127.0.0.1:${port}`;
    const { token } = (await caller(url, {})('POST', '/auth/login', { username: 'admin', password: PASSWORD })).body;
    return { ...started, url, call: caller(url, { authorization: `Bearer ${token}` }) };
  }

  /** An agent that connects to the port. `replica`: beside others of its client. */
  agent(key: string, port: number, replica = false): TunnelAgent {
    const agent = new TunnelAgent({
      server: { host: '127.0.0.1', port },
      key,
      replica,
      now: Date.now,
      random: () => 0.1,
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    });
    this.agents.push(agent);
    agent.start();
    return agent;
  }

  rows<T extends object = AnyJson>(sql: string, values: unknown[] = []): Promise<T[]> {
    return withClient(this.database.url, async (client) => (await client.query<T>(sql, values)).rows);
  }

  async close(): Promise<void> {
    for (const agent of this.agents) await agent.stop();
    for (const child of this.children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
    await this.database.drop();
  }
}
