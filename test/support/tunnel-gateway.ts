import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { reservePort, waitFor, type TestDatabase } from '@gatehouse/testing';
import { createServerIdentity, TunnelAgent } from '@gatehouse/tunnel-kernel';
import { BuiltService } from './built-service.js';

const PASSWORD = 'a-password-for-tests';
/** How the first one comes to be. */
const ADMINISTRATORS = {
  password: { GATEHOUSE_ADMIN_PASSWORD: PASSWORD },
  setup: { TUNNEL_FIRST_ADMINISTRATOR: 'setup' },
};
const quiet = (): void => undefined;

/** Whatever JSON holds; a test that reads a wrong field from it fails. */
export type GatewayJson = ReturnType<JSON['parse']>;

export interface GatewayPorts {
  api: number;
  agents: number;
  http: number;
  https: number;
}

/** The built tunnel-gateway as a process of its own, with its edge, on a database and a home of its own. */
export class RunningTunnelGateway implements AsyncDisposable {
  readonly ports: GatewayPorts;
  readonly url: string;
  /** The password of `admin`. */
  readonly password = PASSWORD;
  readonly #service: BuiltService;
  readonly #agents: TunnelAgent[] = [];
  #token = '';

  private constructor(service: BuiltService, ports: GatewayPorts) {
    this.#service = service;
    this.ports = ports;
    this.url = `http://127.0.0.1:${ports.api}`;
  }

  /** `firstAdministrator`: `setup` waits for the token that is in the home; nobody is logged in then. */
  static async start(
    firstAdministrator: keyof typeof ADMINISTRATORS = 'password',
    settings: Record<string, string> = {},
  ): Promise<RunningTunnelGateway> {
    const chosen = async (name: string): Promise<number> => Number(settings[name] ?? (await reservePort()));
    const ports = {
      api: await reservePort(),
      agents: await reservePort(),
      http: await chosen('TUNNEL_HTTP_PORT'),
      https: await chosen('TUNNEL_HTTPS_PORT'),
    };
    const service = await BuiltService.start('tunnel-gateway', {
      TUNNEL_GATEWAY_PORT: String(ports.api),
      TUNNEL_GATEWAY_PUBLIC_URL: `http://127.0.0.1:${ports.api}`,
      TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
      TUNNEL_AGENT_PORT: String(ports.agents),
      TUNNEL_HTTP_PORT: String(ports.http),
      TUNNEL_HTTPS_PORT: String(ports.https),
      API_RATE_LIMIT: '0',
      ...ADMINISTRATORS[firstAdministrator],
      ...settings,
    });
    const gateway = new RunningTunnelGateway(service, ports);
    if (firstAdministrator === 'setup') return gateway;
    gateway.#token = (await gateway.call('POST', '/auth/login', { username: 'admin', password: PASSWORD })).token;
    return gateway;
  }

  /** Lets its reader make the first administrator. */
  get setupToken(): string {
    return readFileSync(path.join(this.#service.home, 'setup-token.txt'), 'utf8').trim();
  }

  get database(): TestDatabase {
    return this.#service.database;
  }

  /** What another program on the same database would be given. */
  get environment(): NodeJS.ProcessEnv {
    return this.#service.env;
  }

  /** As the administrator. */
  async call(method: string, route: string, body?: object, more: Record<string, string> = {}): Promise<GatewayJson> {
    const login = this.#token && { authorization: `Bearer ${this.#token}` };
    const answer = await fetch(`${this.url}/api/v1${route}`, {
      method,
      headers: { 'content-type': 'application/json', ...login, ...more },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${route} answered ${answer.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  /** An API key of a new user, who may read and write. */
  async keyOfUser(username: string, role: 'user' | 'viewer' = 'user'): Promise<string> {
    await this.call('POST', '/users', { username, password: PASSWORD, role });
    const own = async (route: string, body: object, token?: string): Promise<GatewayJson> => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
      const answer = await fetch(`${this.url}/api/v1${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${route} answered ${answer.status}: ${await answer.text()}`);
      return answer.json();
    };
    const { token } = await own('/auth/login', { username, password: PASSWORD });
    const scopes = role === 'user' ? ['read', 'write'] : ['read'];
    return (await own('/api-keys', { name: 'agent', scopes, current_password: PASSWORD }, token)).key;
  }

  /** A client whose agent is online; its id. */
  async clientWithAgent(): Promise<number> {
    const { id, key } = await this.call('POST', '/clients', { name: 'home' });
    const agent = new TunnelAgent({
      server: { host: '127.0.0.1', port: this.ports.agents },
      key,
      now: Date.now,
      random: () => 0.1,
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      software: 'test-agent/1',
    });
    this.#agents.push(agent);
    agent.start();
    await waitFor(() => agent.status.state === 'online', { timeoutMs: 10_000 });
    return id;
  }

  /** A certificate that a host may name, signed by nobody. */
  certificate(): { cert_path: string; key_path: string } {
    const folder = path.join(this.#service.home, 'tunnel-gateway', 'certificates');
    mkdirSync(folder, { recursive: true });
    const { certificate, key } = createServerIdentity();
    const files = { cert_path: path.join(folder, 'site.pem'), key_path: path.join(folder, 'site.key') };
    writeFileSync(files.cert_path, certificate);
    writeFileSync(files.key_path, key);
    return files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents) await agent.stop();
    await this.#service[Symbol.asyncDispose]();
  }
}
