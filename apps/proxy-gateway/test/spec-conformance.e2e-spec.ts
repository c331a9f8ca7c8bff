import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDescription } from './support/description.js';
import type { Description } from './support/description.js';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';
import { shadowsocksLink, startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';
import { SPECIFIED } from './support/specified-operations.js';
import type { SpecifiedOperation, SpecifiedParameter } from './support/specified-operations.js';

const title = ({ method, path }: SpecifiedOperation): string => `${method} ${path}`;
const each = SPECIFIED.map((operation) => [title(operation), operation] as const);
const guarded = each.filter(([, { open }]) => open !== true);
/** The largest 64-bit integer, which no row has. */
const NO_ID = '9223372036854775807';
const WITHOUT = { authorization: '' };

let gateway: Gateway;
let provider: Provider;
let description: Description;
beforeAll(async () => {
  [gateway, provider] = await Promise.all([startGateway(), startProvider()]);
  provider.list(shadowsocksLink('one'), shadowsocksLink('two'));
  const settings = {
    'subscription.allow_private': 'true',
    'health.timeout_ms': '200',
    'country.exit_url': '',
    'geo.country_url': provider.url,
    'geo.asn_url': '',
    'geo.geosite_url': '',
    'geo.allow_private': 'true',
  };
  expect((await gateway.call('PUT', '/settings', settings)).status).toBe(200);
  description = await readDescription(gateway.app.url);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

it('covers the 42 operations of the specification', () => {
  expect(new Set(each.map(([name]) => name)).size).toBe(42);
});

describe('the description', () => {
  it.each(each)('has %s', (_name, { method, path, status, query = {}, body, open }) => {
    const operation = description.find(method, path)?.document;
    expect(operation?.responses).toHaveProperty(String(status));
    for (const [name, parameter] of Object.entries(query)) {
      const found = operation.parameters.find(
        (candidate: AnyJson) => candidate.name === name && candidate.in === 'query',
      );
      expect(found, name).toMatchObject({ required: false, schema: schemaOf(parameter) });
    }
    if (body !== undefined) expectBody(bodySchema(operation), body);
    expect(operation.security).toEqual(open === true ? [] : undefined);
    for (const each of ['id', 'name']) if (path.includes(`{${each}}`)) expectPathParameter(operation, each);
  });

  it('declares both credentials, the version and the prefix', () => {
    const { components, security, openapi, info } = description.document;
    expect(openapi).toMatch(/^3\.1\./);
    expect(info.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(components.securitySchemes).toMatchObject({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    });
    expect(security).toEqual([{ bearer: [] }, { api_key: [] }]);
  });

  it('needs no credentials', async () => {
    expect((await gateway.call('GET', '/openapi.json', undefined, WITHOUT)).status).toBe(200);
  });
});

function schemaOf({ type, values, default: byDefault, maximum }: SpecifiedParameter): object {
  return {
    type,
    ...(values && { enum: values }),
    // The default format is json, which a description need not repeat.
    ...(typeof byDefault === 'number' && { default: byDefault }),
    ...(maximum !== undefined && { maximum }),
  };
}

function bodySchema(operation: AnyJson): AnyJson {
  const { $ref: reference, ...inline } = operation.requestBody.content['application/json'].schema;
  return reference === undefined ? inline : description.document.components.schemas[reference.split('/').at(-1)];
}

function expectBody(schema: AnyJson, fields: Readonly<Record<string, string>>): void {
  for (const [field, type] of Object.entries(fields)) {
    const name = field.replace('?', '');
    const types = [schema.properties[name]?.type].flat();
    expect(types, name).toContain(type);
    if (name === field) expect(schema.required).toContain(name);
  }
}

function expectPathParameter(operation: AnyJson, name: string): void {
  const schema = name === 'id' ? { type: 'integer', format: 'int64' } : { type: 'string' };
  expect(operation.parameters).toContainEqual(expect.objectContaining({ name, in: 'path', required: true, schema }));
}

describe('without valid credentials', () => {
  it.each(guarded)('%s answers 401 with an error', async (_name, { method, path }) => {
    const route = path.replace('{id}', '1').replace('{name}', 'PROXY');
    for (const headers of [
      WITHOUT,
      { authorization: 'Bearer nonsense' },
      { ...WITHOUT, 'x-api-key': 'gpk_nonsense' },
    ]) {
      const { status, body } = await gateway.call(method, route, undefined, headers);
      expect([status, body.error], JSON.stringify(headers)).toEqual([401, expect.any(String)]);
    }
  });
});

describe('the three headers', () => {
  it('carry a token or a key, everywhere', async () => {
    const { key } = (await gateway.call('POST', '/api-keys', { name: 'all' })).body;
    expect(key).toMatch(/^gpk_/);
    for (const [name, { path }] of guarded.filter(([, { method, file }]) => method === 'GET' && file !== true)) {
      const credentials = [
        { authorization: gateway.authorization() },
        { authorization: `Bearer ${key}` },
        { ...WITHOUT, 'x-api-key': key },
      ];
      for (const headers of credentials) {
        expect((await gateway.call('GET', path, undefined, headers)).status, name).toBe(200);
      }
    }
    const listed = (await gateway.call('GET', '/api-keys')).body;
    expect(JSON.stringify(listed)).not.toContain(key);
  });
});

describe('every operation', () => {
  it('behaves as specified', async () => {
    const made = await exercise();
    const missing = SPECIFIED.filter((operation) => made.get(title(operation)) !== operation.status);
    expect(missing.map((operation) => `${title(operation)}: ${made.get(title(operation))}`)).toEqual([]);
  });

  it.each(each.filter(([, { path }]) => path.includes('{id}')))(
    '%s takes 64-bit integers',
    async (_name, operation) => {
      const body = operation.body && (operation.path.startsWith('/rules') ? { raw: 'MATCH,DIRECT' } : {});
      const at = (id: string) => gateway.call(operation.method, operation.path.replace('{id}', id), body);
      expect((await at(NO_ID)).status).toBe(404);
      for (const id of ['abc', '1.5', '1e3', '0x1', '%201', '99999999999999999999'])
        expect((await at(id)).status, id).toBe(400);
    },
  );

  it.each(each)('%s respects its limits', async (_name, { path, query = {} }) => {
    for (const [name, { maximum, default: byDefault, values }] of Object.entries(query)) {
      const asked = async (value: string) => (await gateway.call('GET', `${path}?${name}=${value}`)).status;
      if (maximum !== undefined) expect([await asked(`${maximum}`), await asked(`${maximum + 1}`)]).toEqual([200, 400]);
      if (byDefault === 0) expect([await asked('0'), await asked('-1')]).toEqual([200, 400]);
      if (values !== undefined) expect(await asked('nonsense'), name).toBe(400);
    }
  });

  it('pages with the defaults', async () => {
    expect((await gateway.call('GET', '/proxies')).body).toMatchObject({ limit: 50, offset: 0 });
    expect((await gateway.call('GET', '/traffic-logs')).body).toMatchObject({ limit: 50, offset: 0 });
    const { live_domains, live_nodes, period_domains, period_nodes } = (await gateway.call('GET', '/dashboard')).body;
    for (const list of [live_domains, live_nodes, period_domains, period_nodes]) {
      expect(list).toMatchObject({ limit: 50, offset: 0 });
    }
  });

  it.each(['export', 'import', 'test-all', 'rebuild-countries'])('/proxies/%s is not a valid id', async (name) => {
    expect((await gateway.call('PUT', `/proxies/${name}`, {})).status).toBe(405);
    expect((await gateway.call('DELETE', `/proxies/${name}`)).status).toBe(405);
  });
});

/** Calls each operation once, in an order in which each has what it needs; returns the status of each. */
async function exercise(): Promise<Map<string, number>> {
  const made = new Map<string, number>();
  const call = async (method: string, path: string, value: string | number, body?: unknown): Promise<AnyJson> => {
    const answer = await gateway.call(method, path.replace(/\{\w+\}/, String(value)), body);
    made.set(`${method} ${path}`, answer.status);
    return answer.body;
  };
  for (const path of ['/auth/status', '/api-keys', '/dashboard', '/connections', '/countries', '/outbound', '/rules']) {
    await call('GET', path, '');
  }
  for (const path of ['/rules/merged', '/traffic-logs', '/logs', '/audit-logs', '/settings', '/system/status']) {
    await call('GET', path, '');
  }
  await call('GET', '/system/geo', '');
  await call('POST', '/auth/login', '', { password: 'a password for tests' });
  await exerciseNodes(call);
  await exerciseRules(call);
  await call('DELETE', '/api-keys/{id}', (await call('POST', '/api-keys', '', {})).id);
  await call('PUT', '/settings', '', { 'health.tolerance_ms': '50' });
  await call('POST', '/system/reload', '');
  await call('POST', '/system/geo/update', '', { force: false });
  for (const path of ['/proxies/export', '/rules/export']) made.set(`GET ${path}`, await download(path));
  return made;
}

type Call = (method: string, path: string, value: string | number, body?: unknown) => Promise<AnyJson>;

async function exerciseNodes(call: Call): Promise<void> {
  const subscription = { name: 'Provider', url: provider.url, type: 'links', interval_sec: 3600, enabled: true };
  const { id } = await call('POST', '/subscriptions', '', subscription);
  await call('GET', '/subscriptions', '');
  await call('PUT', '/subscriptions/{id}', id, { ...subscription, name: 'Another' });
  await call('POST', '/subscriptions/{id}/refresh', id);
  const node = await call('POST', '/proxies', '', { name: 'mine', type: 'ss', raw_config: shadowsocksLink('mine') });
  await call('GET', '/proxies', '');
  await call('PUT', '/proxies/{id}', node.id, { name: 'yours' });
  await call('POST', '/proxies/{id}/test', node.id);
  await call('POST', '/proxies/import', '', { mode: 'append', text: shadowsocksLink('other') });
  await call('POST', '/proxies/test-all', '');
  await call('POST', '/proxies/rebuild-countries', '');
  await call('PUT', '/outbound/groups/{name}', 'PROXY', { proxy: `n${node.id}` });
  await call('PUT', '/outbound/default-policy', '', { policy: 'DIRECT' });
  await call('DELETE', '/proxies/{id}', node.id);
  await call('DELETE', '/subscriptions/{id}', id);
}

async function exerciseRules(call: Call): Promise<void> {
  const { id } = await call('POST', '/rules', '', { type: 'DOMAIN', payload: 'example.com', target: 'DIRECT' });
  await call('PUT', '/rules/{id}', id, { type: 'DOMAIN', payload: 'example.org', target: 'DIRECT' });
  await call('POST', '/rules/import', '', { mode: 'append', rules: [{ raw: 'DOMAIN,example.net,DIRECT' }] });
  await call('POST', '/rules/test', '', { url: 'https://example.org/' });
  await call('DELETE', '/rules/{id}', id);
}

/** The status if the answer is a file with a name in every format, otherwise 0. */
async function download(path: string): Promise<number> {
  const formats = SPECIFIED.find((operation) => operation.path === path)?.query?.['format']?.values ?? [];
  for (const query of ['', ...formats.map((format) => `?format=${format}`)]) {
    const response = await fetch(`${gateway.app.url}/api/v1${path}${query}`, {
      headers: { authorization: gateway.authorization() },
    });
    await response.arrayBuffer();
    const disposition = response.headers.get('content-disposition') ?? '';
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
    const expected = /^attachment; filename="[\w.-]+"$/.test(disposition) && isJson === /json|^$/.test(query);
    if (response.status !== 200 || !expected) return 0;
  }
  return 200;
}

describe('login', () => {
  it('fails with 401 and an error', async () => {
    const { status, body } = await gateway.call('POST', '/auth/login', { password: 'wrong' }, WITHOUT);
    expect([status, body.error]).toEqual([401, expect.any(String)]);
  });

  it('can be disabled, so that nothing needs credentials', async () => {
    await gateway.call('PUT', '/settings', { 'auth.enabled': 'false' });
    expect((await gateway.call('GET', '/auth/status', undefined, WITHOUT)).body).toMatchObject({ enabled: false });
    for (const [name, { path }] of guarded.filter(([, { method, file }]) => method === 'GET' && file !== true)) {
      expect((await gateway.call('GET', path, undefined, WITHOUT)).status, name).toBe(200);
    }
    const back = await gateway.call('PUT', '/settings', { 'auth.enabled': 'true' }, WITHOUT);
    expect(back.status).toBe(200);
    expect((await gateway.call('GET', '/rules', undefined, WITHOUT)).status).toBe(401);
  });

  it('answers 429 to too many attempts', async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 30 && statuses.at(-1) !== 429; attempt++) {
      statuses.push((await gateway.call('POST', '/auth/login', { password: 'wrong' }, WITHOUT)).status);
    }
    expect(statuses.slice(0, -1).every((status) => status === 401)).toBe(true);
    expect(statuses.at(-1)).toBe(429);
  });
});
