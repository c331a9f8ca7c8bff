import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBase32, totpCode } from '@gatehouse/auth';
import type { OperationExample } from '@gatehouse/platform';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES_FILE, loadExamples } from '../src/http-options.js';
import { startGateway } from './gateway-app.js';
import { API_WALK } from './support/api-walk.js';
import { recordOne } from './support/recorded-request.js';
import { caller, TunnelWorld, type Answer, type AnyJson, type Caller } from './support/tunnel-world.js';

/** Writes the exchanges down, for the description, instead of comparing them with what is written there. */
const recording = process.env['RECORD_EXAMPLES'] === '1';
const exchanges: OperationExample[] = [];

/** Nobody serves it: the gateway answers. */
const VISIT = { path: '/orders?page=2&token=secret', headers: { 'user-agent': 'curl/8.15.0' } };
const PASSWORD = 'correct horse battery';
/** Logins, and what people do with their own accounts. */
const OWN_ACCOUNT = /^auth_(logIn|logOut|runSetup)$|^ownAccount_|^sessions_end$|^deviceLogins_|^apiKeys_revokeOwn$/;

let world: TunnelWorld;
let document: AnyJson;
let ajv: Ajv2020;
const ids = new Map<string, number | string>();
beforeAll(async () => {
  // Nobody listens there: certificates are ordered, and none comes.
  world = await TunnelWorld.start({ ACME_AGREE_TERMS: 'true', ACME_DIRECTORY_URL: 'https://127.0.0.1:9/directory' });
  document = await (await fetch(`${world.gateway.url}/api/v1/openapi.json`)).json();
  ids.set('edge', await addFakeEdge());
  ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'description');
});
afterAll(async () => {
  if (recording) writeFileSync(EXAMPLES_FILE, `${JSON.stringify(exchanges.map(forReaders), null, 2)}\n`);
  await world.close();
});

interface Found {
  place: string[];
  operation: AnyJson;
}

function operations(): Map<string, Found> {
  const all = Object.entries<AnyJson>(document.paths).flatMap(([path, item]) =>
    Object.entries<AnyJson>(item).map(([method, operation]): [string, Found] => [
      operation.operationId,
      { place: ['paths', path, method], operation },
    ]),
  );
  return new Map(all);
}

/** What is wrong with a value by the schema at a place of the description. */
function problems(place: string[], value: unknown): string[] {
  const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  const validate = ajv.compile({ $ref: `description#/${pointer}` });
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const filled = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith(':') ? ids.get(value.slice(1)) : value;

describe('the interface description', () => {
  it('has every operation with all its answers', () => {
    const shown = new Set(API_WALK.map(([operation]) => operation));
    const described = [...operations().keys()].filter((id) => !OWN_ACCOUNT.test(id));
    expect(described.filter((id) => !shown.has(id))).toEqual([]);
    for (const [id, { operation }] of operations()) expect(operation.description, id).toMatch(/\.$/);
    for (const id of described) {
      const { responses, security, summary } = operations().get(id)?.operation ?? {};
      expect(summary, id).toBeTypeOf('string');
      const refused = security?.length === 0 ? [] : ['401', '403'];
      expect(Object.keys(responses), id).toEqual(expect.arrayContaining([...refused, '422', '429']));
      expect(responses, id).not.toHaveProperty('default');
    }
  });

  it('documents If-Match exactly where rows have entity tags', () => {
    const takes = ({ operation }: Found): boolean =>
      (operation.parameters as AnyJson[]).some(({ name }: AnyJson) => name === 'If-Match');
    const changes = [...operations()].filter(([, { place }]) => ['patch', 'delete'].includes(place[2] ?? ''));
    const without = changes.filter(([, found]) => !takes(found)).map(([id]) => id);
    expect(without.toSorted()).toEqual([
      'apiKeys_revoke',
      'apiKeys_revokeOwn',
      'hostCertificates_remove',
      'sessions_end',
      'sessions_endOthers',
    ]);
    for (const [id, found] of operations()) {
      expect(Object.hasOwn(found.operation.responses, '412'), id).toBe(takes(found));
    }
  });

  it.each(API_WALK)('%s is answered as documented', async (id, request, body) => {
    const sent = body && Object.fromEntries(Object.entries(body).map(([name, value]) => [name, filled(value)]));
    const answer = await exchange(world.admin, id, request, sent);
    // It does not answer, which other operations would report.
    if (id === 'edges_serve') await world.rows("DELETE FROM tunnel_gateway_ops.edges WHERE lease_until = 'infinity'");
    if (id === 'hosts_update') ids.set('hostRequest', (await recordOne(world, Number(ids.get('host')), VISIT)).id);
    if (id.endsWith('_create')) ids.set(nameOf(id), answer.body.id);
  });

  it('documents the answers about own accounts', async () => {
    const { call, id: user } = await world.user('ann');
    const begun = await exchange(call, 'ownAccount_beginTotp', 'POST /auth/totp', { current_password: PASSWORD });
    const secret = parseBase32(begun.body.secret) ?? Buffer.alloc(0);
    const code = totpCode(secret, Math.floor(Date.now() / 30_000));
    const confirmed = await exchange(call, 'ownAccount_confirmTotp', 'POST /auth/totp/confirm', { code });
    const [first, second] = confirmed.body.recovery_codes as string[];
    const visitor = caller(world.gateway.url, {});
    const login = { username: 'ann', password: PASSWORD, code: first };
    const { body: session } = await exchange(visitor, 'auth_logIn', 'POST /auth/login', login);
    const proof = { current_password: PASSWORD, code: second };
    const renewed = await exchange(call, 'ownAccount_renewRecoveryCodes', 'POST /auth/totp/recovery-codes', proof);
    const again = { current_password: PASSWORD, code: (renewed.body.recovery_codes as string[])[0] };
    await exchange(call, 'ownAccount_endTotp', 'POST /auth/totp/disable', again);
    const { body: sessions } = await world.admin('GET', `/sessions?user_id=${user}&sort=-created_at`);
    ids.set('session', sessions.items[0].id);
    await exchange(call, 'sessions_end', 'DELETE /sessions/:session');
    expect(
      (await caller(world.gateway.url, { authorization: `Bearer ${session.token}` })('GET', '/auth/me')).status,
    ).toBe(401);
    const change = { current_password: PASSWORD, new_password: 'a better horse battery', revoke_keys: true };
    await exchange(call, 'ownAccount_changePassword', 'POST /auth/password', change);
    await exchange(call, 'auth_logOut', 'POST /auth/logout');
  });

  it('documents the login of a machine', async () => {
    const { call } = await world.user('bob');
    const machine = caller(world.gateway.url, {});
    const { body } = await exchange(machine, 'deviceLogins_begin', 'POST /auth/device', { machine: 'laptop' });
    const { user_code, device_code } = body as Record<string, string>;
    await exchange(call, 'deviceLogins_find', 'POST /auth/device/find', { user_code });
    const decision = { user_code, approved: true, current_password: PASSWORD };
    await exchange(call, 'deviceLogins_decide', 'POST /auth/device/decide', decision);
    const answer = await exchange(machine, 'deviceLogins_poll', 'POST /auth/device/token', { device_code });
    const key = caller(world.gateway.url, { 'x-api-key': answer.body.api_key });
    await exchange(key, 'apiKeys_revokeOwn', 'DELETE /api-keys/current');
  });

  it('documents the answers of the first setup', async () => {
    await using gateway = await startGateway({ TUNNEL_FIRST_ADMINISTRATOR: 'setup' });
    const token = readFileSync(join(gateway.home, 'setup-token.txt'), 'utf8').trim();
    const body = { token, username: 'admin', password: PASSWORD };
    await exchange(caller(gateway.url, {}), 'auth_runSetup', 'POST /auth/setup', body);
    expect([...operations().keys()].filter((id) => !exchanges.some(({ operation }) => operation === id))).toEqual([]);
  });

  it.skipIf(recording)('has examples of requests and answers', async () => {
    const request = ({ operation, name, path, query, body, status }: OperationExample): object => ({
      operation,
      name,
      path,
      query,
      body,
      status,
    });
    const shown = JSON.stringify((await loadExamples()).map(request));
    expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(exchanges.map(forReaders).map(request))));
    const { operation } = operations().get('clients_create') ?? { operation: {} };
    expect(operation.requestBody.content['application/json'].examples).toHaveProperty('clients_create');
    expect(operation.responses['201'].content['application/json'].examples).toHaveProperty('clients_create');
  });

  it('documents problems as they are sent', async () => {
    const { place } = operations().get('clients_get') ?? { place: [] };
    const { status, body } = await world.admin('GET', '/clients/999999');
    expect(status).toBe(404);
    expect(problems([...place, 'responses', '404', 'content', 'application/problem+json', 'schema'], body)).toEqual([]);
  });
});

/** A lease of an edge that does not run: the only one that serves could not be drained. */
async function addFakeEdge(): Promise<string> {
  const edge = '7f0e2a54-8a39-4d54-9c0e-5d1e64b2b0a1';
  await world.rows(
    `INSERT INTO tunnel_gateway_ops.edges (id, edge, name, worker, workers, version, pid, started_at, state, wanted,
       public_agents, public_http, public_https, revision, agents, connections, load, lease_until)
     VALUES (gen_random_uuid(), $1, 'edge-2', 0, 1, '0.2.0', 17, now(), 'serving', 'serving', 'edge-2.example.org:8024',
       'edge-2.example.org:8880', 'edge-2.example.org:8443', 1, 310, 42, 0.18, 'infinity')`,
    [edge],
  );
  return edge;
}

/** Sends a request, and holds it and its answer against the description. */
async function exchange(call: Caller, id: string, request: string, body?: object): Promise<Answer> {
  const { place, operation } = operations().get(id) ?? { place: [], operation: {} };
  const [method = '', path = ''] = request.split(' ');
  if (body) expect(problems([...place, 'requestBody', 'content', 'application/json', 'schema'], body)).toEqual([]);
  const answer = await call(
    method,
    path.replaceAll(/:(\w+)/g, (_, name: string) => String(ids.get(name))),
    body,
  );
  expect(Object.keys(operation.responses)).toContain(String(answer.status));
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  const where = [...place, 'responses', String(answer.status)];
  if (answer.status === 204) expect(answer.body).toBeNull();
  else expect(problems([...where, 'content', mediaTypeOf(answer), 'schema'], answer.body)).toEqual([]);
  keep(id, request, body, answer);
  return answer;
}

/** Remembers an exchange as an example; one without an answer shows its request alone. */
function keep(operation: string, request: string, body: object | undefined, answer: Answer): void {
  const count = exchanges.filter((exchange) => exchange.operation === operation).length;
  const [path = '', query = ''] = (request.split(' ')[1] ?? '').split('?');
  const [id, requestId] = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ids.get(name));
  exchanges.push({
    operation,
    name: count === 0 ? operation : `${operation}_${count + 1}`,
    ...(id !== undefined && { path: { id, ...(requestId !== undefined && { requestId }) } }),
    ...(query !== '' && { query: queryOf(query) }),
    ...(body !== undefined && { body }),
    status: answer.status,
    mediaType: mediaTypeOf(answer),
    answer: answer.body,
  });
}

const mediaTypeOf = ({ type }: Answer): string => type?.split(';')[0] ?? 'application/json';

const queryOf = (text: string): Record<string, string | number> =>
  Object.fromEntries(
    [...new URLSearchParams(text)].map(([name, value]) => {
      const filledIn = String(filled(value));
      return [name, /^\d+$/.test(filledIn) ? Number(filledIn) : filledIn];
    }),
  );

function forReaders(exchange: OperationExample): OperationExample {
  return JSON.parse(JSON.stringify(exchange, shortened)) as OperationExample;
}

/** Certificates are new each time, series are long, and what is secret looks like that. */
function shortened(name: string, value: unknown): unknown {
  if (name === 'recovery_codes') return [RECOVERY_CODE];
  if (Array.isArray(value)) return value.slice(0, 3) as unknown[];
  if (typeof value !== 'string') return value;
  if (name === 'requestId' || name === 'request_id') return '01a2286c846100000001c95a4e0f';
  if (name === 'code') return /^\d{6}$/.test(value) ? '492039' : RECOVERY_CODE;
  if (name === 'token' || (name === 'secret' && /^[A-Z2-7]+$/.test(value)))
    return `${/^[a-z]+_/.exec(value)?.[0] ?? ''}…`;
  if (name === 'otpauth_uri') return value.replace(/secret=\w+/, 'secret=…');
  if (name === 'user_code') return USER_CODE;
  if (name === 'verification_uri_complete') return value.replace(/[A-Z]{4}-[A-Z]{4}$/, USER_CODE);
  const pem = /^-----BEGIN ([A-Z ]+)-----/.exec(value)?.[1];
  if (pem !== undefined) return `-----BEGIN ${pem}-----\n…\n-----END ${pem}-----\n`;
  return value.replaceAll(/\b(gtk1\.|gtv1\.|gtk_|gtd_|whsec_)[\w.+/=-]{8,}/g, '$1…');
}

const USER_CODE = 'WDJB-MJHT';
const RECOVERY_CODE = '7xk2p-9qm4d';

/** `ipRules_create` makes an `ipRule`. */
function nameOf(operation: string): string {
  const [plural = ''] = operation.split('_');
  return plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.slice(0, -1);
}
