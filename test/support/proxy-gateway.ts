import { reservePort } from '@gatehouse/testing';
import type { SystemStatus } from '@gatehouse/contracts';
import type { TestDatabase } from '@gatehouse/testing';
import { BuiltService } from './built-service.js';

const PASSWORD = 'a-password-for-tests';

/** The built proxy-gateway as a process of its own, with its kernel, on a database and a home of its own. */
export class RunningProxyGateway implements AsyncDisposable {
  /** Where the console and the API are. */
  readonly url: string;
  readonly password = PASSWORD;
  readonly #service: BuiltService;
  readonly #base: string;
  #token = '';

  private constructor(service: BuiltService, port: number) {
    this.#service = service;
    this.url = `http://127.0.0.1:${port}`;
    this.#base = `${this.url}/api/v1`;
  }

  static async start(env: Record<string, string> = {}): Promise<RunningProxyGateway> {
    const port = await reservePort();
    const service = await BuiltService.start('proxy-gateway', {
      GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
      PROXY_GATEWAY_PORT: String(port),
      // It must come back on the same one after a crash.
      PROXY_KERNEL_PORT: String(await reservePort()),
      WORKERS: 'inline',
      ...env,
    });
    const gateway = new RunningProxyGateway(service, port);
    gateway.#token = (await gateway.call<{ token: string }>('POST', '/auth/login', { password: PASSWORD })).token;
    return gateway;
  }

  get database(): TestDatabase {
    return this.#service.database;
  }

  /** What another process of the service would be given. */
  get environment(): NodeJS.ProcessEnv {
    return this.#service.env;
  }

  /** The last lines of its log. */
  get printed(): string {
    return this.#service.printed;
  }

  async call<T>(method: string, route: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
    const response = await fetch(this.#base + route, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  async kernel(): Promise<SystemStatus['kernel']> {
    return (await this.call<SystemStatus>('GET', '/system/status')).kernel;
  }

  /** Port that clients of the proxy use. */
  async proxyPort(): Promise<number> {
    const listener = (await this.kernel()).listeners.find(({ state }) => state === 'listening');
    if (!listener) throw new Error('the kernel does not listen');
    return listener.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }
}
