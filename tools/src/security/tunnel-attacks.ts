import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NewTunnelClientView } from '@gatehouse/contracts';
import { AgentProcess } from '../tour/agent-process.js';
import { ApiClient } from '../tour/api-client.js';
import { eventually } from '../tour/script.js';
import { andClean, Breach, ensure, refused, type Attack } from './attack.js';

export interface TunnelPlaces {
  /** Logged in as the administrator. */
  api: ApiClient;
  /** Without a path. */
  base: string;
  password: string;
  /** Port for visitors of hosts; null: it is not known. */
  httpPort: number | null;
}

/** Attacks on tunnel-gateway. */
export function tunnelAttacks(places: TunnelPlaces): Attack[] {
  return [
    { name: 'an API key that becomes an administrator', run: () => promoteByKey(places) },
    { name: 'a user who takes names of everybody', run: () => withUser(places, takeNames) },
    { name: 'a user who looks at what others have', run: () => withUser(places, lookAtOthers) },
    { name: 'a webhook into the network of the gateway', run: () => withUser(places, callInside) },
    { name: 'a login that leaves a cookie for every port of the name', run: () => cookieOfLogin(places) },
    { name: 'a callback into the network of the gateway', run: () => withUser(places, askInside) },
    { name: 'cookies of the platform for the target of a host', run: () => carryCookies(places) },
    { name: 'guesses at a visitor password, while its owner is logged in', run: () => guessBasic(places) },
    { name: 'administration that leaves no trace', run: () => traceOfUsers(places) },
  ];
}

const nameOf = (kind: string): string => `attack-${kind}-${randomBytes(4).toString('hex')}`;

async function promoteByKey({ api, base, password }: TunnelPlaces): Promise<string> {
  const made = await api.call<{ id: number; key: string }>('POST', '/api-keys', {
    name: nameOf('key'),
    scopes: ['read', 'write', 'admin'],
    current_password: password,
  });
  const key = ApiClient.withToken(`${base}/api/v1`, made.key);
  return andClean(
    async () => {
      const user = { username: nameOf('user'), password: 'a long password of hers', role: 'admin' };
      await refused('an API key that makes an administrator', key.call('POST', '/users', user));
      const me = await api.call<{ id: number }>('GET', '/auth/me');
      for (const change of [{ password: 'a long password of mine' }, { role: 'user' }, { status: 0 }]) {
        const what = `an API key that changes ${Object.keys(change).join()} of a user`;
        await refused(what, key.call('PATCH', `/users/${me.id}`, change));
      }
      return 'a key of every scope was refused each';
    },
    () => api.call('DELETE', `/api-keys/${made.id}`),
  );
}

interface Guest {
  user: ApiClient;
  places: TunnelPlaces;
}

/** Lets an attack run as a user of its own, who is removed again. */
async function withUser(places: TunnelPlaces, attack: (guest: Guest) => Promise<string>): Promise<string> {
  const { api, base } = places;
  const credentials = { username: nameOf('user'), password: 'a long password of hers' };
  const { id } = await api.call<{ id: number }>('POST', '/users', { ...credentials, role: 'user' });
  const user = new ApiClient(`${base}/api/v1`);
  return andClean(
    async () => {
      await user.login(credentials.password, credentials.username);
      return attack({ user, places });
    },
    () => api.call('DELETE', `/users/${id}`),
  );
}

async function takeNames({ user }: Guest): Promise<string> {
  const client = await user.call<{ id: number }>('POST', '/clients', { name: nameOf('client') });
  const names = ['*.com', '*.co.uk', 'com', 'localhost', 'github.io', '*', `${nameOf('name')}.example.com`];
  return andClean(
    async () => {
      for (const host of names) {
        const body = { client_id: client.id, host, target_addr: 'http://127.0.0.1:1' };
        await refused(`a user who takes ${host}`, user.call('POST', '/hosts', body));
      }
      return `${names.length} names that are not theirs, each refused`;
    },
    () => user.call('DELETE', `/clients/${client.id}`),
  );
}

async function lookAtOthers({ user, places: { api } }: Guest): Promise<string> {
  const client = await api.call<{ id: number }>('POST', '/clients', { name: nameOf('client') });
  return andClean(
    async () => {
      const path = `/clients/${client.id}`;
      for (const [method, suffix] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/rotate-key'],
      ] as const) {
        const status = await refused(
          `${method} ${path}${suffix} of another`,
          user.call(method, path + suffix, method === 'GET' ? undefined : {}),
        );
        ensure(status !== 403, `${method} ${path}${suffix} says that it exists`);
      }
      await refused('GET /audit-logs', user.call('GET', '/audit-logs'));
      const { items } = await user.call<{ items: { username: string }[] }>('GET', '/users');
      ensure(items.length === 1, `a user sees ${items.length} users`);
      return 'the client of another does not exist for them, nor do other users; the audit log is closed';
    },
    () => api.call('DELETE', `/clients/${client.id}`),
  );
}

const INSIDE = '127.0.0.1 localhost foo.localhost 169.254.169.254 168.63.129.16 [::1] [::ffff:10.0.0.1] 10.0.0.1'.split(
  ' ',
);

async function callInside({ user }: Guest): Promise<string> {
  for (const host of INSIDE) {
    const body = { name: nameOf('webhook'), url: `https://${host}/hook`, event_types: [] };
    await refused(`a webhook to ${host}`, user.call('POST', '/webhooks', body));
  }
  return `${INSIDE.length} addresses inside, each refused`;
}

async function askInside({ user }: Guest): Promise<string> {
  const client = await user.call<{ id: number }>('POST', '/clients', { name: nameOf('client') });
  return andClean(
    async () => {
      for (const host of INSIDE) {
        const policy = { resource_type: 'client', resource_id: client.id, type: 'callback' };
        const body = { ...policy, callback_url: `https://${host}/check` };
        await refused(`a policy that asks ${host}`, user.call('POST', '/auth-policies', body));
      }
      return `${INSIDE.length} addresses inside, each refused`;
    },
    () => user.call('DELETE', `/clients/${client.id}`),
  );
}

/** Names of the platform's own cookies, which browsers send to every port of a name, and one of the target's. */
const COOKIES = 'gatehouse_site=1; gw_session=2; gatehouse_visit=3; theirs=4';

async function carryCookies({ api, httpPort }: TunnelPlaces): Promise<string> {
  if (httpPort === null) return 'left out: the port of hosts is not known here';
  const seen: (string | undefined)[] = [];
  const target = createServer((asked, answer) => {
    seen.push(asked.headers.cookie);
    answer.end();
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const { port } = target.address() as AddressInfo;
  const client = await api.call<NewTunnelClientView>('POST', '/clients', { name: nameOf('client') });
  const agent = AgentProcess.start(client);
  return andClean(
    async () => {
      const host = `${nameOf('host')}.gatehouse.example`;
      const body = { client_id: client.id, host, target_addr: `http://127.0.0.1:${port}` };
      await api.call('POST', '/hosts', body);
      await eventually('the host', async () =>
        (await visit(httpPort, { host, cookie: COOKIES })) === 200 ? true : undefined,
      );
      ensure(seen.at(-1) === 'theirs=4', `the target was sent ${seen.at(-1) ?? 'no cookie'}`);
      return 'the target got its own cookie and no other';
    },
    async () => {
      await agent.stop();
      await api.call('DELETE', `/clients/${client.id}`);
      target.close();
    },
  );
}

async function cookieOfLogin({ base, password }: TunnelPlaces): Promise<string> {
  const answer = await fetch(`${base}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
    signal: AbortSignal.timeout(30_000),
  });
  await answer.arrayBuffer();
  const cookies = answer.headers.getSetCookie();
  ensure(answer.ok, `the login answered ${answer.status}`);
  ensure(cookies.length === 0, `the login set ${cookies.map((cookie) => cookie.split('=')[0]).join()}`);
  return 'none was set';
}

/** Statuses of guesses at a host, with the right pair now and then, as its owner's visitor would send it. */
async function guessBasic({ api, httpPort }: TunnelPlaces): Promise<string> {
  if (httpPort === null) return 'left out: the port of hosts is not known here';
  const client = await api.call<{ id: number }>('POST', '/clients', { name: nameOf('client') });
  return andClean(
    async () => {
      const host = `${nameOf('host')}.gatehouse.example`;
      const body = { client_id: client.id, host, target_addr: 'http://127.0.0.1:1' };
      const { id } = await api.call<{ id: number }>('POST', '/hosts', body);
      const users = [{ username: 'ann', password: 'the right password' }];
      const policy = { resource_type: 'host', resource_id: id, type: 'basic', users };
      await api.call('POST', '/auth-policies', policy);
      await isServed(httpPort, host);
      await visitAs(httpPort, host, 'the right password');
      const statuses: number[] = [];
      for (let at = 0; at < 40; at += 1) statuses.push(await visitAs(httpPort, host, `guess ${at}`));
      const looked = statuses.filter((status) => status === 401).length;
      ensure(looked <= 5, `${looked} guesses were looked at in a row`);
      const right = await visitAs(httpPort, host, 'the right password');
      ensure(
        right === statuses.at(-1),
        `the right password is answered ${right}, wrong ones ${String(statuses.at(-1))}`,
      );
      return `${looked} of 40 guesses were looked at; the right one looks like the others after that`;
    },
    () => api.call('DELETE', `/clients/${client.id}`),
  );
}

async function isServed(port: number, host: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await visitAs(port, host, null)) === 401) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Breach('the policy of a host is not in force within five seconds');
}

function visitAs(port: number, host: string, password: string | null): Promise<number> {
  const basic = Buffer.from(`ann:${password ?? ''}`).toString('base64');
  return visit(port, { host, ...(password !== null && { authorization: `Basic ${basic}` }) });
}

function visit(port: number, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, headers, agent: false, signal: AbortSignal.timeout(30_000) };
    request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

async function traceOfUsers({ api }: TunnelPlaces): Promise<string> {
  const username = nameOf('user');
  const body = { username, password: 'a long password of hers', role: 'user' };
  const { id } = await api.call<{ id: number }>('POST', '/users', body);
  await api.call('DELETE', `/users/${id}`);
  const logs = await api.call<unknown>('GET', '/audit-logs?limit=20');
  const text = JSON.stringify(logs);
  ensure(text.includes(username), 'the audit log does not name a user who was made');
  ensure(!text.includes(body.password), 'the audit log holds a password');
  const verified = await api.call<{ ok: boolean }>('GET', '/audit-logs/verify');
  ensure(verified.ok, 'the chain of the audit log is broken');
  return 'making and removing a user is in the audit log, whose chain holds';
}
