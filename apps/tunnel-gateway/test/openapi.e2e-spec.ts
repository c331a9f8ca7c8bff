import { writeFileSync } from 'node:fs';
import type { OperationExample } from '@gatehouse/platform';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES_FILE, loadExamples } from '../src/http-options.js';
import { makeCertificate } from '@gatehouse/testing';
import { TunnelWorld, type Answer, type AnyJson } from './support/tunnel-world.js';

const UPLOADED = makeCertificate({ subject: 'app.example.org', names: ['app.example.org'] });

/** One request of each operation, in an order in which they can be; `:name` is the id that an earlier answer brought. */
const WALK: [operation: string, request: string, body?: object][] = [
  ['users_create', 'POST /users', { username: 'zoe', password: 'a long password', role: 'viewer' }],
  ['users_list', 'GET /users?role=viewer&sort=-username&q=z'],
  ['users_get', 'GET /users/:user'],
  ['users_update', 'PATCH /users/:user', { role: 'user', reset_totp: true }],
  ['users_remove', 'DELETE /users/:user?transfer_to=1'],
  ['sessions_list', 'GET /sessions?user_id=1&sort=-created_at'],
  ['sessions_endOthers', 'DELETE /sessions'],
  ['apiKeys_create', 'POST /api-keys', { name: 'ci', scopes: ['read'], current_password: 'correct horse battery' }],
  ['apiKeys_list', 'GET /api-keys?sort=name'],
  ['apiKeys_get', 'GET /api-keys/:apiKey'],
  ['apiKeys_revoke', 'DELETE /api-keys/:apiKey'],
  ['auth_me', 'GET /auth/me'],
  ['auth_setupState', 'GET /auth/setup'],
  ['clients_create', 'POST /clients', { name: 'home', rate_limit: 1024 }],
  ['clients_list', 'GET /clients?limit=1'],
  ['clients_get', 'GET /clients/:client'],
  ['clients_update', 'PATCH /clients/:client', { max_conn: 10 }],
  ['clients_rotateKey', 'POST /clients/:client/rotate-key', { grace_seconds: 86_400 }],
  ['clients_update', 'PATCH /clients/:client', { status: true }],
  ['clients_kick', 'POST /clients/:client/kick'],
  ['clients_resetTraffic', 'POST /clients/:client/reset-traffic'],
  ['clients_connections', 'GET /clients/:client/connections'],
  ['tunnels_create', 'POST /tunnels', { client_id: ':client', mode: 'secret', target_addr: '127.0.0.1:22' }],
  ['tunnels_rotateVisitorKey', 'POST /tunnels/:tunnel/rotate-visitor-key'],
  ['tunnels_list', 'GET /tunnels?mode=secret'],
  ['tunnels_get', 'GET /tunnels/:tunnel'],
  ['tunnels_update', 'PATCH /tunnels/:tunnel', { name: 'ssh', proxy_protocol: 2 }],
  ['tunnelChecks_check', 'POST /tunnels/:tunnel/check'],
  ['tunnels_stop', 'POST /tunnels/:tunnel/stop'],
  ['tunnels_start', 'POST /tunnels/:tunnel/start'],
  [
    'hosts_create',
    'POST /hosts',
    { client_id: ':client', host: 'app.example.org', target_addr: 'http://127.0.0.1:80', auto_https: 1 },
  ],
  ['hostCertificates_renew', 'POST /hosts/:host/acme/renew'],
  ['hostCertificates_upload', 'POST /hosts/:host/cert', { certificate: UPLOADED.certificate, key: UPLOADED.key }],
  ['certificates_list', 'GET /certificates?source=upload'],
  ['certificates_get', 'GET /certificates/:host'],
  ['hostCertificates_remove', 'DELETE /hosts/:host/cert'],
  ['domains_create', 'POST /domains', { name: 'example.org', user_id: 1 }],
  ['domains_verify', 'POST /domains/:domain/verify'],
  ['domains_list', 'GET /domains?status=verified&sort=name'],
  ['domains_get', 'GET /domains/:domain'],
  ['domains_remove', 'DELETE /domains/:domain'],
  ['hosts_list', 'GET /hosts'],
  ['hosts_get', 'GET /hosts/:host'],
  ['hostChecks_check', 'POST /hosts/:host/check'],
  ['hosts_update', 'PATCH /hosts/:host', { response_headers: { Server: '' } }],
  ['ipRules_create', 'POST /ip-rules', { scope: 'host', resource_id: ':host', type: 'deny', pattern: '192.0.2.1' }],
  ['ipRules_check', 'GET /ip-rules/check?ip=192.0.2.1&resource_type=host&resource_id=:host'],
  ['ipRules_list', 'GET /ip-rules?scope=host'],
  ['ipRules_get', 'GET /ip-rules/:ipRule'],
  ['ipRules_update', 'PATCH /ip-rules/:ipRule', { priority: 5 }],
  [
    'authPolicies_create',
    'POST /auth-policies',
    {
      resource_type: 'host',
      resource_id: ':host',
      type: 'oauth',
      oauth: {
        issuer: 'https://login.example.org',
        client_id: 'gateway',
        client_secret: 'secret',
        authorization_endpoint: 'https://login.example.org/authorize',
        token_endpoint: 'https://login.example.org/token',
        userinfo_endpoint: 'https://login.example.org/userinfo',
        emails: ['ann@example.org'],
      },
    },
  ],
  [
    'authPolicies_create',
    'POST /auth-policies',
    { resource_type: 'host', resource_id: ':host', type: 'basic', users: [{ username: 'ann', password: 'secret' }] },
  ],
  ['authPolicies_list', 'GET /auth-policies?resource_type=host'],
  ['authPolicies_get', 'GET /auth-policies/:authPolicy'],
  ['authPolicies_update', 'PATCH /auth-policies/:authPolicy', { ttl_seconds: 60 }],
  ['flowStats_list', 'GET /flow-stats?resource_type=client&resource_id=1'],
  ['flowStats_series', 'GET /flow-stats/series?resource_type=client&resource_id=:client&bucket=minute'],
  [
    'webhooks_create',
    'POST /webhooks',
    { name: 'chat', url: 'http://127.0.0.1:1/hook', event_types: ['tunnel.failed', 'cert.expiring'] },
  ],
  [
    'transfer_import',
    'POST /transfer/import',
    {
      format: 'frp',
      files: [{ name: 'frpc.toml', text: '[[proxies]]\nname = "db"\ntype = "stcp"\nlocalPort = 5432' }],
      dry_run: true,
    },
  ],
  ['transfer_export', 'GET /transfer/export?hashes=true'],
  [
    'transfer_restore',
    'POST /transfer/restore',
    {
      archive: {
        format: 'gatehouse.tunnel-gateway',
        version: 1,
        users: [{ id: 1, username: 'admin', role: 'admin', status: 1 }],
      },
    },
  ],
  ['webhooks_list', 'GET /webhooks?status=1'],
  ['webhooks_get', 'GET /webhooks/:webhook'],
  ['webhooks_update', 'PATCH /webhooks/:webhook', { name: 'talk' }],
  ['webhooks_rotateSecret', 'POST /webhooks/:webhook/rotate-secret'],
  ['webhooks_test', 'POST /webhooks/:webhook/test'],
  ['webhooks_deliveries', 'GET /webhooks/:webhook/deliveries?status=dead'],
  ['auditLogs_list', 'GET /audit-logs?action=domain.*&limit=1'],
  ['auditLogs_verify', 'GET /audit-logs/verify'],
  ['webhooks_remove', 'DELETE /webhooks/:webhook'],
  ['events_list', 'GET /events?type=client.kicked,client.online&limit=5'],
  ['dashboard_get', 'GET /dashboard'],
  ['gateway_get', 'GET /gateway'],
  ['requestIps_list', 'GET /request-ips?sort=-hits'],
  ['authPolicies_remove', 'DELETE /auth-policies/:authPolicy'],
  ['ipRules_remove', 'DELETE /ip-rules/:ipRule'],
  ['hosts_remove', 'DELETE /hosts/:host'],
  ['tunnels_remove', 'DELETE /tunnels/:tunnel'],
  ['clients_remove', 'DELETE /clients/:client'],
];

/** Writes the exchanges down, for the description, instead of comparing them with what is written there. */
const recording = process.env['RECORD_EXAMPLES'] === '1';
const exchanges: OperationExample[] = [];

/** Logins, and what people do with their own accounts: see accounts.e2e-spec.ts. */
const ELSEWHERE = /^(auth|ownAccount)_|^sessions_end$/;

let world: TunnelWorld;
let document: AnyJson;
let ajv: Ajv2020;
const ids = new Map<string, number>();
beforeAll(async () => {
  // Nobody listens there: certificates are ordered, and none comes.
  world = await TunnelWorld.start({ ACME_AGREE_TERMS: 'true', ACME_DIRECTORY_URL: 'https://127.0.0.1:9/directory' });
  document = await (await fetch(`${world.gateway.url}/api/v1/openapi.json`)).json();
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
  it('knows every operation, and all that they answer', () => {
    const shown = new Set(WALK.map(([operation]) => operation));
    const described = [...operations().keys()].filter((id) => !ELSEWHERE.test(id));
    expect(described.filter((id) => !shown.has(id))).toEqual([]);
    for (const id of described) {
      const { responses, summary } = operations().get(id)?.operation ?? {};
      expect(summary, id).toBeTypeOf('string');
      expect(Object.keys(responses), id).toEqual(expect.arrayContaining(['401', '403', '422', '429']));
      expect(responses, id).not.toHaveProperty('default');
    }
  });

  it('promises to look at If-Match where rows have entity tags, and nowhere else', () => {
    const takes = ({ operation }: Found): boolean =>
      (operation.parameters as AnyJson[]).some(({ name }: AnyJson) => name === 'If-Match');
    const changes = [...operations()].filter(([, { place }]) => ['patch', 'delete'].includes(place[2] ?? ''));
    const without = changes.filter(([, found]) => !takes(found)).map(([id]) => id);
    expect(without.toSorted()).toEqual([
      'apiKeys_revoke',
      'hostCertificates_remove',
      'sessions_end',
      'sessions_endOthers',
    ]);
    for (const [id, found] of operations()) {
      expect(Object.hasOwn(found.operation.responses, '412'), id).toBe(takes(found));
    }
  });

  it.each(WALK)('%s is answered as it says', async (id, request, body) => {
    const { place, operation } = operations().get(id) ?? { place: [], operation: {} };
    const [method = '', path = ''] = request.split(' ');
    const sent = body && Object.fromEntries(Object.entries(body).map(([name, value]) => [name, filled(value)]));
    if (sent) expect(problems([...place, 'requestBody', 'content', 'application/json', 'schema'], sent)).toEqual([]);
    const answer = await world.admin(
      method,
      path.replace(/:(\w+)/, (_, name: string) => String(ids.get(name))),
      sent,
    );
    expect(Object.keys(operation.responses)).toContain(String(answer.status));
    expect(answer.status).toBeLessThan(300);
    const where = [...place, 'responses', String(answer.status)];
    if (answer.status === 204) expect(answer.body).toBeNull();
    else expect(problems([...where, 'content', 'application/json', 'schema'], answer.body)).toEqual([]);
    if (id.endsWith('_create')) ids.set(nameOf(id), answer.body.id);
    keep(id, request, sent, answer);
  });

  it.skipIf(recording)('shows what was sent and answered', async () => {
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

  it('describes problems as they come', async () => {
    const { place } = operations().get('clients_get') ?? { place: [] };
    const { status, body } = await world.admin('GET', '/clients/999999');
    expect(status).toBe(404);
    expect(problems([...place, 'responses', '404', 'content', 'application/problem+json', 'schema'], body)).toEqual([]);
  });
});

/** Remembers an exchange as an example; one without an answer shows its request alone. */
function keep(operation: string, request: string, body: object | undefined, answer: Answer): void {
  const count = exchanges.filter((exchange) => exchange.operation === operation).length;
  const [path = '', query = ''] = (request.split(' ')[1] ?? '').split('?');
  const id = ids.get(/:(\w+)/.exec(path)?.[1] ?? '');
  exchanges.push({
    operation,
    name: count === 0 ? operation : `${operation}_${count + 1}`,
    ...(id !== undefined && { path: { id } }),
    ...(query !== '' && { query: queryOf(query) }),
    ...(body !== undefined && { body }),
    status: answer.status,
    mediaType: 'application/json',
    answer: answer.body,
  });
}

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
function shortened(_name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 3) as unknown[];
  if (typeof value !== 'string') return value;
  const pem = /^-----BEGIN ([A-Z ]+)-----/.exec(value)?.[1];
  if (pem !== undefined) return `-----BEGIN ${pem}-----\n…\n-----END ${pem}-----\n`;
  return value.replaceAll(/\b(gtk1\.|gtv1\.|gtk_|whsec_)[\w.+/=-]{8,}/g, '$1…');
}

/** `ipRules_create` makes an `ipRule`. */
function nameOf(operation: string): string {
  const [plural = ''] = operation.split('_');
  return plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.slice(0, -1);
}
