import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { logInFrom, waitFor } from '@gatehouse/testing';
import { expect } from 'vitest';
import type { Ports } from './launched-platform.js';

interface Door {
  readonly name: string;
  readonly url: string;
  readonly portVariable: 'PROXY_GATEWAY_PORT' | 'RESOURCE_SHARING_PORT' | 'TUNNEL_GATEWAY_PORT';
  readonly loginPath: string;
  readonly auditPath: string;
  readonly account: { readonly username?: string };
}

const [GUESSER, NEIGHBOUR, ADMINISTRATOR] = ['127.0.0.9', '127.0.0.8', '127.0.0.1'];
/** Logins are limited: between two looks there is time. */
const PATIENCE = { timeoutMs: 30_000, intervalMs: 500 };
const V1 = { loginPath: '/api/v1/auth/login', auditPath: '/api/v1/audit-logs' };
const SITE = { loginPath: '/api/site/login', auditPath: '/api/site/admin/audit-logs' };

function doorsOf(ports: Ports): Door[] {
  const url = (name: keyof Ports): string => `http://127.0.0.1:${ports[name]}`;
  const [proxy, site, tunnel] = ['PROXY_GATEWAY_PORT', 'RESOURCE_SHARING_PORT', 'TUNNEL_GATEWAY_PORT'] as const;
  const account = { username: 'admin' };
  return [
    { name: 'proxy-gateway', url: url(proxy), portVariable: proxy, ...V1, account: {} },
    { name: 'resource-sharing', url: url(site), portVariable: site, ...SITE, account },
    { name: 'tunnel-gateway', url: url(tunnel), portVariable: tunnel, ...V1, account },
  ];
}

/** Opens each service of a platform to clients of its proxy, guesses at its password, and closes it again. */
export class GuessesThroughProxy {
  readonly doors: readonly Door[];
  readonly #ports: Ports;
  readonly #password: string;

  constructor(home: string, ports: Ports) {
    this.#ports = ports;
    this.#password = readFileSync(join(home, 'first-login.txt'), 'utf8').trim();
    this.doors = doorsOf(ports);
  }

  /** Resolves once the service is reached through the proxy; what it resolves to ends that. */
  async open(door: Door): Promise<() => Promise<void>> {
    const [gateway] = this.doors as [Door];
    const credentials = await this.#credentials(gateway);
    const rules = `${gateway.url}/api/v1/rules`;
    const raw = `AND,((IP-CIDR,127.0.0.1/32,no-resolve),(DST-PORT,${this.#ports[door.portVariable]})),DIRECT`;
    const made = await fetch(rules, { method: 'POST', headers: credentials, body: JSON.stringify({ raw }) });
    const { id } = (await made.json()) as { id: number };
    // Whose connection it is can be asked as soon as the service has found proxy-gateway.
    await waitFor(async () => {
      await this.#logIn(door, NEIGHBOUR, this.#password);
      return (await this.#newestAddress(door, true)) === NEIGHBOUR;
    }, PATIENCE);
    return async () => void (await fetch(`${rules}/${id}`, { method: 'DELETE', headers: credentials }));
  }

  /** A flood of wrong passwords from one client of the proxy, and then the right one from everywhere. */
  async expectTheGuesserToPay(door: Door): Promise<void> {
    const guesses = Array.from({ length: 12 }, () => this.#logIn(door, GUESSER, 'not the password'));
    expect(new Set(await Promise.all(guesses)), door.name).toEqual(new Set([401, 429]));
    await waitFor(async () => (await this.#newestAddress(door, false)) === GUESSER, PATIENCE);
    expect(await this.#logIn(door, GUESSER, this.#password), door.name).toBe(429);
    expect(await this.#logIn(door, NEIGHBOUR, this.#password), door.name).toBe(200);
    expect(await this.#logIn(door, ADMINISTRATOR, this.#password, true), door.name).toBe(200);
  }

  #logIn({ url, loginPath, account }: Door, from: string, password: string, straight = false): Promise<number> {
    const through = straight ? {} : { proxyPort: this.#ports.PROXY_KERNEL_PORT };
    return logInFrom({ url: `${url}${loginPath}`, body: { ...account, password }, from, ...through });
  }

  /** The address of the newest login in the audit log. */
  async #newestAddress(door: Door, success: boolean): Promise<string | null> {
    const address = `${door.url}${door.auditPath}?success=${success}&limit=10`;
    const answer = await fetch(address, { headers: await this.#credentials(door) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${address} answered ${answer.status}: ${text}`);
    const body = JSON.parse(text) as { items?: AuditRow[]; data?: { items: AuditRow[] } };
    const logins = (body.items ?? body.data?.items ?? []).filter(({ action }) => /login|lockout/.test(action));
    // The call itself needed a login, which is the newest of the good ones.
    return logins[success ? 1 : 0]?.ip ?? null;
  }

  async #credentials({ url, loginPath, account }: Door): Promise<Record<string, string>> {
    const type = { 'content-type': 'application/json' };
    const body = JSON.stringify({ ...account, password: this.#password });
    const answer = await fetch(`${url}${loginPath}`, { method: 'POST', headers: type, body });
    const { token } = (await answer.json()) as { token?: string };
    const [cookie] = answer.headers.getSetCookie();
    return {
      ...type,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cookie && { cookie: cookie.split(';')[0]! }),
    };
  }
}

interface AuditRow {
  action: string;
  ip: string | null;
}
