import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseBase32, totpCode } from '@gatehouse/auth';
import { withClient } from '@gatehouse/persistence';
import { programEnvironment, waitFor } from '@gatehouse/testing';
import { expect } from 'vitest';
import { ROOT, type Ports } from '../smoke/launched-platform.js';
import { CERTIFICATE, PRIVATE_KEY } from '../support/tls-identity.js';
import { jsonClient, must, type JsonClient } from './json-client.js';
import { KeptRules } from './kept-rules.js';

const run = promisify(execFile);
const OAUTH = '/api/public/openapi/oauth';
const REDIRECT_URI = 'http://127.0.0.1:8090/callback';
/** What the certificate is for. */
const HOST = 'proxy.test';
const FLOWS = 40;

export interface Bases {
  proxy: string;
  sharing: string;
  tunnel: string;
}

export function basesOf(ports: Ports): Bases {
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  return {
    proxy: `${at(ports.PROXY_GATEWAY_PORT)}/api/v1`,
    sharing: at(ports.RESOURCE_SHARING_PORT),
    tunnel: `${at(ports.TUNNEL_GATEWAY_PORT)}/api/v1`,
  };
}

export const commandLine = (home: string, ...args: string[]) =>
  run(process.execPath, [join(ROOT, 'tools/dist/cli.js'), ...args], {
    env: programEnvironment({ GATEHOUSE_HOME: home }),
  });

/** One request through the proxy, to a web server on this machine; its status. */
export async function throughProxy(ports: Ports, target: string): Promise<string> {
  const options = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-m', '20', '-x'];
  return (await run('curl', [...options, `http://127.0.0.1:${ports.PROXY_KERNEL_PORT}`, target])).stdout;
}

/** What people and programs know, and what has to go on working with it. */
export class Kept {
  readonly password: string;
  readonly userPassword = randomBytes(12).toString('base64url');
  proxyKey = '';
  ruleId = 0;
  tunnelKey = '';
  agentKey = '';
  agentServer = '';
  tunnelPort = 0;
  totpSecret: Buffer = Buffer.alloc(0);
  lastStep = 0;
  application = '';
  applicationId = '';
  member = '';
  memberId = 0;
  accessToken = '';
  refreshToken = '';
  slug = '';
  points = 0;
  readonly rules = new KeptRules();
  agent: ChildProcess | undefined;

  constructor(password: string) {
    this.password = password;
  }

  startAgent(): void {
    const program = join(ROOT, 'apps/tunnel-agent/dist/gatehouse-agent.mjs');
    const env = programEnvironment({ GATEHOUSE_AGENT_KEY: this.agentKey });
    const options = ['--server', this.agentServer, '--allow', '127.0.0.1', '--grace-seconds', '1'];
    this.agent = spawn(process.execPath, [program, ...options], { env, stdio: 'ignore' });
  }

  async stopAgent(): Promise<void> {
    if (this.agent === undefined || this.agent.exitCode !== null || this.agent.signalCode !== null) return;
    const ended = once(this.agent, 'exit');
    this.agent.kill('SIGKILL');
    await ended;
  }
}

async function login(base: string, body: object): Promise<JsonClient> {
  const { token } = await must(jsonClient(base)('POST', '/auth/login', body));
  return jsonClient(base, { authorization: `Bearer ${token}` });
}

async function siteLogin(base: string, body: object): Promise<JsonClient> {
  const { status, cookie } = await jsonClient(base)('POST', '/api/site/login', body);
  expect(status).toBe(200);
  return jsonClient(base, { cookie });
}

export async function fillProxyGateway(base: string, kept: Kept, ports: Ports, origin: string): Promise<void> {
  const admin = await login(base, { password: kept.password });
  kept.proxyKey = (await must(admin('POST', '/api-keys', { name: 'kept', scopes: ['read', 'write'] }))).key;
  const node = { name: 'T', type: 'trojan', raw_config: 'trojan://NODE-PW@192.0.2.9:443?sni=a.example#T' };
  await must(admin('POST', '/proxies', node));
  kept.ruleId = (await must(admin('POST', '/rules', { type: 'DOMAIN', payload: 'a.example', target: 'DIRECT' }))).id;
  // The node leads nowhere.
  await must(admin('POST', '/rules', { type: 'IP-CIDR', payload: '127.0.0.0/8', target: 'DIRECT' }));
  await must(admin('PUT', '/settings', { 'traffic_log.retention_days': '90' }));
  for (let flow = 0; flow < FLOWS; flow += 1) expect(await throughProxy(ports, origin)).toBe('200');
  await waitFor(async () => (await must(admin('GET', '/traffic-logs?limit=1'))).total >= FLOWS);
}

/** A thousand rows of the days before: what ran through the proxy today, put back in time as those days left it. */
export async function addOldDays(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('SET search_path = proxy_gateway');
    for (const days of [1, 2, 3, 9, 30]) {
      const at = new Date(Math.floor(Date.now() / 86_400_000 - days) * 86_400_000);
      const [from, to] = [at.toISOString(), new Date(at.getTime() + 86_400_000).toISOString()];
      const day = from.slice(0, 10);
      await client.query(
        `CREATE TABLE traffic_logs_${day.replaceAll('-', '')} PARTITION OF traffic_logs FOR VALUES FROM ('${from}') TO ('${to}')`,
      );
      await client.query(
        `INSERT INTO traffic_logs SELECT row.*
          FROM (SELECT * FROM traffic_logs ORDER BY id LIMIT 1) AS today, generate_series(1, 200) AS n,
            jsonb_populate_record(NULL::traffic_logs, to_jsonb(today) || jsonb_build_object(
              'id', nextval('traffic_logs_id_seq'), 'started_at', $1::timestamptz + n * interval '1 min',
              'ended_at', $1::timestamptz + n * interval '1 min')) AS row`,
        [from],
      );
      await client.query('INSERT INTO traffic_log_days VALUES ($1, 200)', [day]);
    }
  });
}

export async function fillSharing(base: string, kept: Kept): Promise<void> {
  const admin = await siteLogin(base, { username: 'admin', password: kept.password });
  kept.member = `member-${randomBytes(4).toString('hex')}`;
  const credentials = { username: kept.member, password: kept.userPassword };
  const { id } = (await must(jsonClient(base)('POST', '/api/site/register', credentials))).data;
  kept.memberId = id;
  await must(admin('POST', `/api/site/admin/users/${id}/points`, { points: 20, ref: 'first', note: 'kept' }));
  const member = await siteLogin(base, credentials);
  const asked = { name: 'k', scopes: ['meta', 'query', 'write'], current_password: kept.password };
  const key = (await must(admin('POST', '/api/site/keys', asked))).data.secret as string;
  const shared = { media_type: 'movie', tmdb_id: '550', url: 'https://115.com/s/kept1?password=t0ur', title: 'Kept' };
  const sharer = jsonClient(base, { 'x-api-key': key });
  kept.slug = (await must(sharer('POST', '/api/open/shares', { ...shared, unlock_points: 5 }))).data.slug;
  const application = { name: 'Kept', redirect_uris: [REDIRECT_URI], scopes: ['meta', 'query', 'unlock'] };
  const made = (await must(admin('POST', '/api/site/applications', application))).data;
  kept.application = made.secret.secret;
  kept.applicationId = made.client_id;
  const review = { auth_level: 'verified', status: 'approved' };
  await must(admin('PATCH', `/api/site/admin/applications/${made.client_id}`, review));
  const wish = { client_id: made.client_id, redirect_uri: REDIRECT_URI, scope: 'meta query unlock', state: 's' };
  const { code } = (await must(member('POST', `${OAUTH}/authorize`, wish))).data;
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  const server = jsonClient(base, { 'x-api-key': kept.application });
  const tokens = (await must(server('POST', `${OAUTH}/token`, exchange))).data;
  kept.accessToken = tokens.access_token;
  kept.refreshToken = tokens.refresh_token;
  await must(asMember(base, kept)('POST', '/api/open/resources/unlock', { slug: kept.slug }));
  kept.points = (await must(admin('GET', `/api/site/admin/users/${id}`))).data.points;
}

function asMember(base: string, { application, accessToken }: Kept): JsonClient {
  return jsonClient(base, { 'x-api-key': application, authorization: `Bearer ${accessToken}` });
}

export async function fillTunnelGateway(base: string, kept: Kept, ports: Ports, origin: URL): Promise<void> {
  const admin = await login(base, { username: 'admin', password: kept.password });
  const proof = { current_password: kept.password };
  kept.tunnelKey = (await must(admin('POST', '/api-keys', { name: 'kept', ...proof }))).key;
  const client = await must(admin('POST', '/clients', { name: 'kept' }));
  kept.agentKey = client.key;
  kept.agentServer = `127.0.0.1:${ports.TUNNEL_AGENT_PORT}${/--server [^#\s]+(#\S+)?/.exec(client.command)?.[1] ?? ''}`;
  const named = /--server (\S+)/.exec(client.command)?.[1];
  if (named !== undefined) kept.agentServer = named;
  kept.startAgent();
  await waitFor(async () => (await must(admin('GET', `/clients/${client.id}`))).agent !== null);
  const target = {
    client_id: client.id,
    mode: 'tcp',
    listen_ip: '127.0.0.1',
    listen_port: 0,
    target_addr: origin.host,
  };
  const tunnel = await must(admin('POST', '/tunnels', target));
  kept.tunnelPort = await waitFor(async () => {
    const now = await must(admin('GET', `/tunnels/${tunnel.id}`));
    return now.run_status === 1 ? (now.listen_port as number) : undefined;
  });
  const host = await must(admin('POST', '/hosts', { client_id: client.id, host: HOST, target_addr: origin.origin }));
  await must(admin('POST', `/hosts/${host.id}/cert`, { certificate: CERTIFICATE, key: PRIVATE_KEY }));
  await must(
    admin('POST', '/ip-rules', { scope: 'tunnel', resource_id: tunnel.id, type: 'deny', pattern: '192.0.2.1' }),
  );
  await kept.rules.fill(admin, client.id, origin);
  await kept.rules.act(ports.TUNNEL_HTTP_PORT);
  const policy = { resource_type: 'client', resource_id: client.id, type: 'password', password: 'x', enabled: false };
  await must(admin('POST', '/auth-policies', policy));
  await must(admin('POST', '/users', { username: 'tom', password: kept.userPassword }));
  const tom = await login(base, { username: 'tom', password: kept.userPassword });
  const begun = await must(tom('POST', '/auth/totp', { current_password: kept.userPassword }));
  kept.totpSecret = parseBase32(begun.secret) ?? Buffer.alloc(0);
  kept.lastStep = Math.floor(Date.now() / 30_000);
  await must(tom('POST', '/auth/totp/confirm', { code: totpCode(kept.totpSecret, kept.lastStep) }));
}

/** People who go on until `isOver`: flows of the proxy, visitors of a tunnel, points that change hands. How often each did. */
export async function keepBusy(
  bases: Bases,
  kept: Kept,
  ports: Ports,
  origin: string,
  isOver: () => boolean,
): Promise<number> {
  const admin = await siteLogin(bases.sharing, { username: 'admin', password: kept.password });
  const until = async (act: (turn: number) => Promise<unknown>): Promise<number> => {
    let turn = 0;
    for (; !isOver(); turn += 1) await act(turn);
    return turn;
  };
  const give = (turn: number): Promise<unknown> => {
    const gift = { points: turn % 2 === 0 ? 3 : -3, ref: `busy-${turn}`, note: 'busy' };
    return must(admin('POST', `/api/site/admin/users/${kept.memberId}/points`, gift));
  };
  const visit = async (): Promise<unknown> => (await fetch(`http://127.0.0.1:${kept.tunnelPort}/hello`)).arrayBuffer();
  const turns = await Promise.all([until(() => throughProxy(ports, origin)), until(visit), until(give)]);
  return Math.min(...turns);
}

/** What the witness of each service says of its audit log; all of them are whole. */
export async function witnesses(bases: Bases, kept: Kept): Promise<string[]> {
  const proxy = await login(bases.proxy, { password: kept.password });
  const site = await siteLogin(bases.sharing, { username: 'admin', password: kept.password });
  const tunnel = await login(bases.tunnel, { username: 'admin', password: kept.password });
  const found = [
    await must(proxy('GET', '/audit-logs/verify')),
    (await must(site('GET', '/api/site/admin/audit-logs/verify'))).data,
    await must(tunnel('GET', '/audit-logs/verify')),
  ];
  for (const verification of found) expect(verification).toMatchObject({ ok: true, broken: null });
  return found.map(({ witness }) => witness.status as string);
}

/** A code works once: this one is of the next half minute, which the service accepts for clocks that differ. */
function nextCode(kept: Kept): string {
  kept.lastStep = Math.max(kept.lastStep + 1, Math.floor(Date.now() / 30_000));
  return totpCode(kept.totpSecret, kept.lastStep);
}

export async function useProxyGateway(base: string, kept: Kept, ports: Ports, origin: string): Promise<void> {
  const admin = await login(base, { password: kept.password });
  expect(await must(admin('GET', '/audit-logs/verify'))).toMatchObject({ ok: true });
  const robot = jsonClient(base, { 'x-api-key': kept.proxyKey });
  expect((await must(robot('GET', `/rules/${kept.ruleId}`))).payload).toBe('a.example');
  expect(JSON.stringify(await must(robot('GET', '/proxies/export')))).toContain('NODE-PW');
  expect(await throughProxy(ports, origin)).toBe('200');
  // A row goes into today's partition, and the chain goes on.
  await must(robot('POST', '/rules', { type: 'DOMAIN', payload: 'later.example', target: 'DIRECT' }));
  expect(await must(admin('GET', '/audit-logs/verify'))).toMatchObject({ ok: true });
}

export async function useSharing(base: string, kept: Kept): Promise<void> {
  const member = await siteLogin(base, { username: kept.member, password: kept.userPassword });
  await must(member('GET', '/api/site/me'));
  const before = await must(asMember(base, kept)('POST', '/api/open/resources/unlock', { slug: kept.slug }));
  expect(before.data.already_owned).toBe(true);
  const server = jsonClient(base, { 'x-api-key': kept.application });
  const refresh = { grant_type: 'refresh_token', refresh_token: kept.refreshToken };
  const tokens = (await must(server('POST', `${OAUTH}/token`, refresh))).data;
  const renewed = Object.assign(Object.create(Kept.prototype) as Kept, kept, { accessToken: tokens.access_token });
  expect((await asMember(base, renewed)('GET', '/api/open/ping')).status).toBe(200);
}

export async function useTunnelGateway(base: string, kept: Kept, ports: Ports): Promise<void> {
  const admin = jsonClient(base, { 'x-api-key': kept.tunnelKey });
  const { items } = await must(admin('GET', '/clients'));
  expect(items).toHaveLength(1);
  // The agent was not restarted: it reconnects on its own.
  await waitFor(async () => (await must(admin('GET', `/clients/${items[0].id}`))).agent !== null, {
    timeoutMs: 60_000,
  });
  await waitFor(async () => {
    const answer = await fetch(`http://127.0.0.1:${kept.tunnelPort}/hello`).catch(() => null);
    return answer?.status === 200;
  });
  expect(await visitHost(ports)).toBe(200);
  await kept.rules.act(ports.TUNNEL_HTTP_PORT);
  const without = await jsonClient(base)('POST', '/auth/login', { username: 'tom', password: kept.userPassword });
  expect(without).toMatchObject({ status: 401, body: { code: 'totp_required' } });
  await login(base, { username: 'tom', password: kept.userPassword, code: nextCode(kept) });
}

function visitHost(ports: Ports): Promise<number> {
  return new Promise((resolve, reject) => {
    const place = { host: '127.0.0.1', port: ports.TUNNEL_HTTPS_PORT, servername: HOST, ca: CERTIFICATE };
    const asked = { path: '/hello', headers: { host: HOST }, agent: false as const, timeout: 20_000 };
    request({ ...place, ...asked }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}
