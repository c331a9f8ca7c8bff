import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RuntimeLogWriter } from '../src/runtime-logs/runtime-log-writer.js';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';
import { startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';

/** Part of every credential in this file, and of nothing else. */
const SECRET = 'S3CR3T';
const uuid = '5ec2e75e-c2e7-4ec2-9ec2-e75ec2e75ec2';
const basic = (text: string): string => Buffer.from(text).toString('base64url');

const LINKS = [
  `ss://${basic(`aes-128-gcm:${SECRET}-ss`)}@192.0.2.1:8388#a`,
  `ss://${basic(`aes-128-gcm:${SECRET}-ss2`)}@192.0.2.1:8389/?plugin=${encodeURIComponent(`v2ray-plugin;path=/${SECRET}-plugin;host=a.example`)}#b`,
  `trojan://${SECRET}-trojan@192.0.2.2:443?type=ws&path=%2F${SECRET}-path&sni=a.example#c`,
  `vless://${uuid}@192.0.2.3:443?type=grpc&serviceName=${SECRET}-grpc&security=tls&sni=a.example#d`,
  `socks5://user-${SECRET}:pass-${SECRET}@192.0.2.4:1080#e`,
  `http://user-${SECRET}:pass-${SECRET}@192.0.2.5:8080#f`,
  `hysteria2://${SECRET}-hy2@192.0.2.6:443?obfs=salamander&obfs-password=${SECRET}-obfs&sni=a.example#g`,
  `tuic://${uuid}:${SECRET}-tuic@192.0.2.7:443?sni=a.example#h`,
  `vmess://${Buffer.from(JSON.stringify({ v: '2', ps: 'i', add: '192.0.2.8', port: '443', id: uuid, aid: '0', net: 'ws', path: `/${SECRET}-vmess`, tls: 'tls' })).toString('base64')}`,
];
const SHAPES = [SECRET, uuid, basic(SECRET).slice(0, 7), ...LINKS.map((link) => link.split('#')[0]!)];

let gateway: Gateway;
let provider: Provider;
const made: string[] = [];
beforeAll(async () => {
  gateway = await startGateway();
  provider = await startProvider();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  gateway.call(method, path, body, headers);

/** Every operation with a credential, once with success and once without. */
async function useEverything(): Promise<void> {
  await call('POST', '/auth/login', { password: `${SECRET}-wrong-password` });
  await call('POST', '/auth/login', { password: `${SECRET}-wrong-password`, extra: SECRET });
  await call('GET', '/rules', undefined, { authorization: `Bearer ${SECRET}.${SECRET}.${SECRET}` });
  await call('POST', '/auth/password', { current_password: SECRET.repeat(2), new_password: SECRET.repeat(3) });
  provider.reply = (_request, response) =>
    response
      .writeHead(200, {
        'profile-web-page-url': `https://panel.example/${SECRET}-page?token=${SECRET}-page`,
        'support-url': `https://panel.example/?token=${SECRET}-support`,
        'subscription-userinfo': 'upload=1; download=2; total=3',
      })
      .end(LINKS.join('\n'));
  const url = provider.url.replace('PROVIDER-TOKEN', `${SECRET}-provider`);
  const subscription = await call('POST', '/subscriptions', { name: 'sub', url, type: 'auto', allow_private: true });
  expect(subscription.status).toBe(201);
  const { id } = subscription.body;
  expect((await call('POST', `/subscriptions/${id}/refresh`)).body.status).toBe('updated');
  await call('PUT', `/subscriptions/${id}`, { url: `${url}-2`, user_agent: 'x' });
  provider.reply = (_request, response) => response.writeHead(500).end();
  await call('POST', `/subscriptions/${id}/refresh`);
  await call('PUT', `/subscriptions/${id}`, { url: `ftp://${SECRET}@x` });
  for (const [index, link] of LINKS.entries()) {
    const type = link.split(':')[0]!;
    const renewed = link.replace(SECRET, `${SECRET}-new`).replace('192.0.2', '198.51.100');
    const answer = await call('POST', '/proxies', { name: `manual ${index}`, type, raw_config: renewed });
    // The subscription has already brought this one, because its link is opaque.
    expect([type, answer.status]).toEqual([type, type === 'vmess' ? 409 : 201]);
    if (type === 'vmess') continue;
    const changed = await call('PUT', `/proxies/${answer.body.id}`, { raw_config: renewed.replace('-new', '-newer') });
    expect(changed.status).toBe(200);
  }
  await call('POST', '/proxies/import', { mode: 'append', text: `${LINKS.join('\n')}\nss://${SECRET}-broken` });
  const mirror = `https://${SECRET}:${SECRET}@mirror.example/f?k=${SECRET}`;
  expect((await call('PUT', '/settings', { 'kernel.users': `me:${SECRET}-user`, 'geo.asn_url': mirror })).status).toBe(
    200,
  );
  expect((await call('PUT', '/settings', { 'health.url': `${mirror}&health` })).status).toBe(200);
  const group = { name: 'own', type: 'url-test', filter: {}, test_url: `${mirror}&group` };
  expect((await call('POST', '/outbound/groups', group)).status).toBe(201);
  await call('PUT', '/settings', { 'kernel.users': `\n${SECRET}`, [`${SECRET}`]: 'x' });
  const key = await call('POST', '/api-keys', { name: 'one more' });
  made.push(key.body.key);
  await call(
    'POST',
    '/rules',
    { type: 'DOMAIN', payload: 'x.example', target: 'DIRECT', note: 'n' },
    { authorization: `Bearer ${key.body.key}` },
  );
  await call('DELETE', `/api-keys/${key.body.id}`);
  const second = await call('POST', '/subscriptions', { name: 'second', url: `${url}-3`, enabled: false });
  expect((await call('DELETE', `/subscriptions/${second.body.id}`)).status).toBe(200);
}

it('leaves no credential in the audit log, the runtime log, or answers to readers', async () => {
  await useEverything();
  const reader = await call('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
  made.push(reader.body.key);
  const headers = { authorization: `Bearer ${reader.body.key}` };
  const seen = new Map<string, string>();
  const keep = (where: string, what: AnyJson): void => void seen.set(where, JSON.stringify(what));

  await gateway.app.app.get(RuntimeLogWriter, { strict: false }).flush();
  const dataSource = gateway.app.app.get(DataSource);
  for (const table of ['audit_logs', 'runtime_logs']) {
    const rows: AnyJson = await dataSource.query(`SELECT * FROM ${table}`);
    expect(rows.length, table).toBeGreaterThan(10);
    keep(`table ${table}`, rows);
  }
  keep('standard output', gateway.app.logs);
  for (const path of [
    '/settings',
    '/subscriptions',
    '/proxies?limit=500',
    '/outbound',
    '/outbound/groups/own',
    '/outbound/groups/AUTO',
    '/rules',
    '/rules/merged',
    '/connections',
    '/dashboard',
    '/traffic-logs',
    '/logs?limit=500',
    '/countries',
    '/system/status',
    '/system/geo',
  ]) {
    const answer = await call('GET', path, undefined, headers);
    expect([path, answer.status]).toEqual([path, 200]);
    keep(`GET ${path}`, answer.body);
  }
  const { body } = await call('GET', '/proxies?limit=500', undefined, headers);
  expect(body.total).toBeGreaterThan(LINKS.length);
  expect(seen.get('GET /subscriptions')).toContain('panel.example');

  for (const [where, text] of seen) {
    for (const shape of [...SHAPES, ...made]) {
      const at = text.indexOf(shape);
      expect(at < 0 ? '' : `${where}: …${text.slice(Math.max(0, at - 120), at + 60)}…`).toBe('');
    }
  }
});

it('belong to one row: moved to another one they do not open', async () => {
  const database = gateway.app.app.get(DataSource, { strict: false });
  const source = (name: string) => ({ name, url: `https://example.com/${name}-secret`, enabled: false });
  const link = (name: string) => `trojan://${name}-secret@example.com:443#${name}`;
  for (const [path, table, column, body] of [
    ['/subscriptions', 'subscriptions', 'sealed_url', source],
    ['/rule-sets', 'rule_sets', 'sealed_url', (name) => ({ ...source(name), type: 'http', behavior: 'domain' })],
    ['/proxies', 'nodes', 'config', (name) => ({ name, type: 'trojan', raw_config: link(name) })],
  ] as [string, string, string, (name: string) => object][]) {
    const make = async (name: string): Promise<number> => {
      const made = await call('POST', path, body(name));
      expect(made).toMatchObject({ status: 201, body: { id: expect.any(Number) } });
      return made.body.id;
    };
    const ids = [await make('one'), await make('other')];
    const swap = (): Promise<unknown> =>
      database.query(
        `UPDATE ${table} a SET ${column} = b.${column} FROM ${table} b
         WHERE (a.id, b.id) IN (($1::bigint, $2::bigint), ($2, $1))`,
        ids,
      );
    const read = (id: number) => call('GET', table === 'nodes' ? `${path}?limit=500` : `${path}/${id}`);
    expect(JSON.stringify((await read(ids[0]!)).body)).toContain('one-secret');
    await swap();
    for (const id of ids) {
      const answer = await read(id);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(JSON.stringify(answer.body)).toMatch(/cannot be opened|does not open/);
      expect(JSON.stringify(answer.body)).not.toMatch(/(one|other)-secret/);
    }
    await swap();
    expect(JSON.stringify((await read(ids[1]!)).body)).toContain('other-secret');
  }
});

it('continues without a subscription and a rule set whose addresses do not open, and names them', async () => {
  const dataSource = gateway.app.app.get(DataSource);
  const body = { name: 'moved', url: `${provider.url}-moved`, enabled: false };
  const [other] = await dataSource.query(`SELECT sealed_url FROM subscriptions WHERE name = 'sub'`);
  for (const [path, table, more] of [
    ['/subscriptions', 'subscriptions', {}],
    ['/rule-sets', 'rule_sets', { type: 'http', behavior: 'domain' }],
  ] as const) {
    const { id } = (await call('POST', path, { ...body, ...more })).body;
    await dataSource.query(`UPDATE ${table} SET sealed_url = $2 WHERE id = $1`, [id, other.sealed_url]);
    const answer = await call('GET', path);
    expect([path, answer.status]).toEqual([path, 200]);
    const items: AnyJson[] = Array.isArray(answer.body) ? answer.body : answer.body.items;
    expect(items.find((item) => item.id === id).last_error.message).toContain('cannot be opened');
    const url = `${provider.url}-again`;
    expect((await call('PUT', `${path}/${id}`, { url })).body).toMatchObject({ url, last_error: null });
  }
});
