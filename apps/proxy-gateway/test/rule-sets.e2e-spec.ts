import { startTcpEcho, waitFor } from '@gatehouse/testing';
import type { TcpEcho } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';
import { tunnelThrough } from './support/proxy-client.js';
import { ruleSetApi } from './support/rule-set-api.js';
import type { RuleSetApi } from './support/rule-set-api.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import type { UpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let api: RuleSetApi;
let echo: TcpEcho;
beforeAll(async () => {
  [gateway, echo] = await Promise.all([startGateway(), startTcpEcho()]);
  api = ruleSetApi(gateway);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await echo.close();
});
beforeEach(() => api.clear());

describe('inline rule sets', () => {
  it('show every field, and take effect in routing at once', async () => {
    const set = await api.inline('ads', ['+.ads.example', 'exact.example']);
    expect(set).toEqual({
      id: expect.any(Number),
      name: 'ads',
      type: 'inline',
      behavior: 'domain',
      format: 'text',
      url: null,
      path: null,
      interval_sec: 86_400,
      enabled: true,
      allow_private: false,
      target: null,
      target_name: null,
      no_resolve: false,
      priority: null,
      rule_id: null,
      entry_count: 2,
      skipped_count: 0,
      errors: [],
      status: 'ok',
      last_checked_at: expect.stringMatching(/Z$/),
      last_updated_at: expect.stringMatching(/Z$/),
      last_success_at: expect.stringMatching(/Z$/),
      next_refresh_at: null,
      consecutive_failures: 0,
      last_status_code: null,
      last_error: null,
      etag: null,
      last_modified: null,
      content_sha256: null,
      content_bytes: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      entries: ['+.ads.example', 'exact.example'],
    });
    expect(await gateway.call('GET', '/rule-sets')).toMatchObject({
      status: 200,
      body: { total: 1, items: [{ id: set.id }] },
    });
    const rule = (await gateway.call('POST', '/rules', { raw: 'RULE-SET,ads,REJECT' })).body;
    expect(rule).toMatchObject({ size: 2, valid: true, error: null });
    expect(await api.test('https://www.ads.example/')).toMatchObject({
      matched: true,
      rule: { id: rule.id },
      target: 'REJECT',
    });
    expect(await api.test('https://www.exact.example/')).toMatchObject({ matched: false });
    await gateway.call('PUT', `/rule-sets/${set.id}`, { entries: ['+.exact.example'] });
    expect(await api.test('https://www.ads.example/')).toMatchObject({ matched: false });
    expect(await api.test('https://www.exact.example/')).toMatchObject({ matched: true });
  });

  it('have a rule of their own if they have a target, whose hits stay', async () => {
    const set = await api.inline('cn', ['10.0.0.0/8'], { behavior: 'ipcidr', target: 'direct', no_resolve: true });
    expect(set).toMatchObject({
      target: 'DIRECT',
      target_name: 'DIRECT',
      no_resolve: true,
      rule_id: expect.any(Number),
    });
    const [rule] = await api.rules('?source=ruleset');
    expect(rule).toMatchObject({
      id: set.rule_id,
      source: 'ruleset',
      raw: 'RULE-SET,cn,DIRECT,no-resolve',
      rule_set_id: set.id,
      valid: true,
    });
    expect(await api.test('10.1.2.3')).toMatchObject({
      matched: true,
      rule: { id: rule.id, source: 'ruleset', raw: 'RULE-SET,cn,DIRECT,no-resolve' },
    });
    await gateway.app.app.get(DataSource).query('UPDATE rules SET hit_count = 5 WHERE id = $1', [rule.id]);
    const changed = await gateway.call('PUT', `/rule-sets/${set.id}`, {
      target: 'PROXY',
      name: 'china',
      enabled: false,
    });
    expect(changed.body).toMatchObject({ target: 'PROXY', rule_id: rule.id, no_resolve: true });
    expect(await api.rules('?source=ruleset')).toMatchObject([
      { id: rule.id, raw: 'RULE-SET,china,PROXY,no-resolve', enabled: false, hit_count: 5, index: null },
    ]);
    for (const method of ['PUT', 'DELETE']) {
      expect(
        (await gateway.call(method, `/rules/${rule.id}`, method === 'PUT' ? { enabled: true } : undefined)).status,
      ).toBe(409);
    }
    expect((await gateway.call('PUT', `/rule-sets/${set.id}`, { target: null })).body).toMatchObject({ rule_id: null });
    expect(await api.rules('?source=ruleset')).toEqual([]);
  });

  it('order their own rules by priority, behind the manual ones', async () => {
    await api.inline('late', ['late.example'], { target: 'DIRECT' });
    await api.inline('early', ['early.example'], { target: 'DIRECT', priority: -5 });
    await gateway.call('POST', '/rules', { raw: 'DOMAIN,manual.example,DIRECT' });
    const { items } = (await gateway.call('GET', '/rules/merged')).body;
    expect(items.map(({ payload }: AnyJson) => payload)).toEqual(['manual.example', 'early', 'late']);
  });

  it('cannot be removed while rules name them', async () => {
    const set = await api.inline('ads', ['+.ads.example']);
    const one = (await gateway.call('POST', '/rules', { raw: 'RULE-SET,ads,REJECT' })).body;
    const two = (await gateway.call('POST', '/rules', { raw: 'AND,((RULE-SET,ads),(NETWORK,TCP)),REJECT' })).body;
    expect(two.valid, two.error).toBe(true);
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PUT', { name: 'other' }],
    ] as const) {
      const answer = await gateway.call(method, `/rule-sets/${set.id}`, body);
      expect(answer).toMatchObject({ status: 409, body: { code: 'IN_USE' } });
      expect(answer.body.error).toContain(`${one.id}, ${two.id}`);
    }
    expect((await gateway.call('DELETE', `/rule-sets/${set.id}?force=true`)).body).toEqual({
      id: set.id,
      deleted: true,
      rules_left: 2,
    });
    expect(await api.rules()).toMatchObject([
      { valid: false, error: 'rule set ads does not exist', size: -1 },
      { valid: false, error: 'rule set ads does not exist' },
    ]);
    expect(await api.test('https://www.ads.example/')).toMatchObject({ matched: false });
  });

  it.each<[object, number, string]>([
    [{}, 400, 'name'],
    [{ name: 'x', type: 'inline', behavior: 'domain' }, 400, 'entries'],
    [{ name: 'x', type: 'http', behavior: 'domain' }, 400, 'url'],
    [{ name: 'x', type: 'file', behavior: 'domain' }, 400, 'path'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: [] }, 400, 'entries'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: ['a.example', 'a b'] }, 400, 'entries[1]'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: ['a.example\nb.example'] }, 400, 'entries[0]'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: [5] }, 400, 'entries'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: null }, 400, 'entries'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: ['a.example'], url: 'http://a.example/' }, 400, 'url'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: ['a.example'], format: 'mrs' }, 400, 'format'],
    [{ name: 'x', type: 'http', behavior: 'domain', url: 'ftp://a.example/' }, 400, 'url'],
    [{ name: 'x', type: 'http', behavior: 'classical', format: 'mrs', url: 'http://a.example/' }, 400, 'format'],
    [{ name: 'a,b', type: 'inline', behavior: 'domain', entries: ['a.example'] }, 400, 'name'],
    [{ name: 'geosite:cn', type: 'inline', behavior: 'domain', entries: ['a.example'] }, 400, 'name'],
    [{ name: 'x', type: 'inline', behavior: 'sites', entries: ['a.example'] }, 400, 'behavior'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: ['a.example'], target: 'Nowhere' }, 422, 'target'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: ['a.example'], interval_sec: 5 }, 400, 'interval_sec'],
    [{ name: 'x', type: 'inline', behavior: 'domain', entries: ['a.example'], colour: 'red' }, 400, 'colour'],
  ])('refuses %j', async (body, status, field) => {
    const answer = await gateway.call('POST', '/rule-sets', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(answer.body.details.map((each: AnyJson) => each.field)).toContain(field);
    expect((await gateway.call('GET', '/rule-sets')).body.total).toBe(0);
  });

  it('leave everything as it was when a change is refused', async () => {
    const set = await api.inline('ads', ['+.ads.example'], { target: 'REJECT' });
    await api.inline('other', ['+.other.example']);
    const changes = [
      { name: 'other' },
      { behavior: 'ipcidr' },
      { entries: ['not a domain'] },
      { target: 'Nowhere' },
      { path: 'x' },
      { type: 'http' },
    ];
    for (const change of changes) {
      expect(
        (await gateway.call('PUT', `/rule-sets/${set.id}`, change)).status,
        JSON.stringify(change),
      ).toBeGreaterThanOrEqual(400);
    }
    expect(await api.detail(set.id)).toEqual(set);
  });

  it('answer 404 and 400 to invalid ids', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/refresh'],
    ]) {
      const body = method === 'PUT' ? {} : undefined;
      expect((await gateway.call(method!, `/rule-sets/987654${path}`, body)).status, method).toBe(404);
      expect((await gateway.call(method!, `/rule-sets/x${path}`, body)).status, method).toBe(400);
    }
  });
});

describe('a test of a rule', () => {
  const proxies: UpstreamProxy[] = [];
  beforeAll(async () => {
    for (const name of ['first', 'second', 'third']) {
      const proxy = await startUpstreamProxy();
      proxies.push(proxy);
      const body = { name, type: 'http', raw_config: `http://127.0.0.1:${proxy.port}` };
      expect((await gateway.call('POST', '/proxies', body)).status).toBe(201);
    }
  });
  afterAll(async () => {
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  });

  it.each([
    ['a set', 'RULE-SET,loop,first', 'first'],
    ['logic with a set', 'AND,((RULE-SET,loop),(NETWORK,TCP)),second', 'second'],
    ['negation', 'NOT,((DOMAIN,elsewhere.example)),third', 'third'],
    ['a port', 'DST-PORT,1-65535,DIRECT', 'DIRECT'],
    ['a group', 'IP-CIDR,127.0.0.0/8,FALLBACK', null],
    ['a group of groups', 'IP-CIDR,127.0.0.0/8,PROXY', null],
    ['a load-balancing group', 'RULE-SET,loop,BALANCE', null],
  ])('is what a connection shows then: %s', async (_name, raw, last) => {
    await api.inline('loop', ['127.0.0.0/8'], { behavior: 'ipcidr' });
    const rule = (await gateway.call('POST', '/rules', { raw })).body;
    expect(rule.valid, rule.error).toBe(true);
    const foretold = await api.test(`127.0.0.1:${echo.port}`);
    expect(foretold).toMatchObject({ matched: true, rule: { id: rule.id, raw: rule.raw } });
    const socket = await tunnelThrough(gateway.proxyPort, '127.0.0.1', echo.port);
    const [open] = (await gateway.call('GET', '/connections')).body.connections;
    expect(open).toMatchObject({
      rule_id: rule.id,
      rule: foretold.rule.type,
      rule_payload: foretold.rule.payload,
      chains: foretold.chain,
    });
    if (last === null) expect(['first', 'second', 'third']).toContain(open.chains.at(-1));
    else expect(open.chains).toEqual([last]);
    socket.destroy();
    await waitFor(async () => ((await gateway.call('GET', '/connections')).body.count === 0 ? true : null));
  });
});
