import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programEnvironment, VisitorBrowser, waitFor } from '@gatehouse/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts, LaunchedPlatform, ROOT, temporaryHome, type Ports } from './launched-platform.js';

const run = promisify(execFile);
const SCHEMAS = ['proxy_gateway', 'resource_sharing', 'tunnel_gateway', 'tunnel_gateway_ops'];
/** The fields that this test looks at, of whatever was answered. */
type Answer = Record<string, never>;

const PASSWORD = 'a password for the test';

let home: string;
let ports: Ports;
let platform: LaunchedPlatform;

beforeAll(async () => {
  home = temporaryHome('gatehouse-keys-');
  ports = await freePorts();
  platform = await start();
}, 120_000);

afterAll(async () => {
  await platform.stop('SIGTERM');
  rmSync(home, { recursive: true, force: true });
});

function start(): Promise<LaunchedPlatform> {
  return new LaunchedPlatform(home, ports, { GATEHOUSE_ADMIN_PASSWORD: PASSWORD }).ready();
}

async function tool(...args: string[]): Promise<string> {
  const env = programEnvironment({ GATEHOUSE_HOME: home });
  const { stdout } = await run(process.execPath, [join(ROOT, 'tools/dist/cli.js'), ...args], { env });
  return stdout;
}

const keys = (): string[] => readFileSync(join(home, 'secret.key'), 'utf8').trim().split('\n');

async function call(port: number, method: string, path: string, body?: unknown, bearer?: string): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(answer.status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return text === '' ? {} : (JSON.parse(text) as Answer);
}

const proxy = async (method: string, path: string, body?: unknown): Promise<Answer> => {
  const { token } = await call(ports.PROXY_GATEWAY_PORT, 'POST', '/api/v1/auth/login', { password: PASSWORD });
  return call(ports.PROXY_GATEWAY_PORT, method, `/api/v1${path}`, body, token);
};

const tunnel = async (method: string, path: string, body?: unknown): Promise<Answer> => {
  const login = { username: 'admin', password: PASSWORD };
  const { token } = await call(ports.TUNNEL_GATEWAY_PORT, 'POST', '/api/v1/auth/login', login);
  return call(ports.TUNNEL_GATEWAY_PORT, method, `/api/v1${path}`, body, token);
};

/** What every sealed text of the database begins with, whatever column it is in. */
async function sealedBy(): Promise<Set<string>> {
  const client = new pg.Client((await tool('db-url')).trim());
  await client.connect();
  try {
    const { rows: columns } = await client.query<{ table: string; column: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS "table", format('%I', column_name) AS "column"
       FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
       WHERE table_schema = ANY ($1) AND data_type = 'text' AND table_type = 'BASE TABLE'`,
      [SCHEMAS],
    );
    const found = new Set<string>();
    for (const { table, column } of columns) {
      const { rows } = await client.query<{ start: string }>(
        `SELECT DISTINCT substring(${column} FROM '^(?:v1|c1|v2\\.[A-Za-z0-9_-]{8})\\.') AS start FROM ${table}
         WHERE ${column} ~ '^(v1|c1|v2\\.[A-Za-z0-9_-]{8})\\.[A-Za-z0-9_-]{38,}$'`,
      );
      for (const { start: beginning } of rows) found.add(`${table}.${column} ${beginning}`);
    }
    return found;
  } finally {
    await client.end();
  }
}

/** A visitor of a new host with a password, who has given it. No agent serves the host: it answers 502 or 503 then. */
async function visitorWithProof(): Promise<VisitorBrowser> {
  const host = 'members.example.org';
  const { id: clientId } = await tunnel('POST', '/clients', { name: 'rotation' });
  const { id } = await tunnel('POST', '/hosts', { client_id: clientId, host, target_addr: '127.0.0.1:9' });
  const policy = { resource_type: 'host', resource_id: id, type: 'password', password: 'open sesame' };
  await tunnel('POST', '/auth-policies', policy);
  const visitor = new VisitorBrowser({ port: ports.TUNNEL_HTTP_PORT, host });
  await waitFor(async () => (await visitor.ask()).status === 401);
  expect((await visitor.prove('open sesame')).status).toBe(303);
  return visitor;
}

/** Waits until the edge serves the host again. */
async function isLetIn(visitor: VisitorBrowser): Promise<boolean> {
  let status = 404;
  await waitFor(async () => (status = (await visitor.ask()).status) !== 404);
  return status !== 401;
}

const idsOf = (found: Set<string>): string[] => [...new Set([...found].map((text) => text.split(' ')[1] ?? ''))];

describe.skipIf(process.platform !== 'linux')('the secret key', { timeout: 240_000 }, () => {
  it('is replaced without losing anything', async () => {
    const secretNode = 'ss://YWVzLTI1Ni1nY206c2VjcmV0LXBhc3N3b3Jk@192.0.2.1:8388#Sealed';
    await proxy('POST', '/proxies/import', { mode: 'append', text: secretNode });
    await proxy('PUT', '/settings', { 'kernel.users': 'ann:her-password' });
    const webhook = { name: 'sealed', url: 'https://hooks.example.com/x', event_types: [] };
    await tunnel('POST', '/webhooks', webhook);
    const visitor = await visitorWithProof();
    expect(await isLetIn(visitor)).toBe(true);
    await tool('seed-demo');
    const { personalKey } = JSON.parse(readFileSync(join(home, 'demo.json'), 'utf8'));
    // Makes the first key for id_tokens.
    await call(ports.RESOURCE_SHARING_PORT, 'GET', '/oauth2/jwks');
    const before = await sealedBy();
    expect([...before].join(' ')).toContain('identity_keys');
    expect(before.size).toBeGreaterThanOrEqual(6);
    expect(idsOf(before)).toHaveLength(1);

    await expect(tool('secrets-rotate', '--new-key')).rejects.toThrow(/it reads its keys when it starts/);
    await platform.stop();
    expect(await tool('secrets-rotate', '--new-key')).toContain('npm run secrets:rotate');
    expect(keys()).toHaveLength(2);
    platform = await start();
    expect(idsOf(await sealedBy())).toContain(idsOf(before)[0]);
    expect(await isLetIn(visitor)).toBe(true);

    expect(await tool('secrets-rotate')).toContain('Everything is sealed with the newest key.');
    const after = await sealedBy();
    expect(idsOf(after)).toHaveLength(1);
    expect(idsOf(after)).not.toEqual(idsOf(before));
    const columns = (found: Set<string>): string[] => [...found].map((text) => text.split(' ')[0] ?? '').sort();
    expect(columns(after)).toEqual(expect.arrayContaining(columns(before)));

    expect(await tool('secrets-rotate', '--drop-old-keys')).toContain('holds no other');
    expect(keys()).toHaveLength(1);
    await platform.stop();
    platform = await start();
    expect(await isLetIn(visitor)).toBe(false);
    expect(JSON.stringify(await proxy('GET', '/proxies/export'))).toContain('secret-password');
    expect((await proxy('GET', '/settings'))['kernel.users']).toBe('ann:her-password');
    expect((await proxy('GET', '/audit-logs/verify')).ok).toBe(true);
    expect((await tunnel('GET', '/webhooks')).items).toHaveLength(1);
    const profile = await fetch(`http://127.0.0.1:${ports.RESOURCE_SHARING_PORT}/api/open/me`, {
      headers: { 'x-api-key': personalKey },
    });
    expect(profile.status).not.toBe(401);
  });
});
