import { startTcpEcho, waitFor } from '@gatehouse/testing';
import type { TcpEcho } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';
import { mihomoProfile, regionNodes, ruleProviderProfile, writtenOutProfile } from './support/profile-shapes.js';
import { startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';
import { tunnelThrough } from './support/proxy-client.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import type { UpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let provider: Provider;
let target: TcpEcho;
let upstreams: [UpstreamProxy, UpstreamProxy];
/** What the provider answers, by the last part of the path. */
let documents: Record<string, string> = {};

beforeAll(async () => {
  [gateway, provider, target, upstreams] = await Promise.all([
    startGateway(),
    startProvider(),
    startTcpEcho(),
    Promise.all([startUpstreamProxy(), startUpstreamProxy()]),
  ]);
  provider.reply = (request, response) => {
    const name = new URL(request.url ?? '', provider.url).pathname.split('/').at(-1) ?? '';
    const text = documents[name];
    if (text === undefined) response.writeHead(404).end();
    else response.end(text);
  };
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await target.close();
  for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
});

const addressOf = (name: string): string => new URL(`/${name}`, provider.url).href;
const nodes = () => regionNodes(upstreams.map(({ port }) => port));
const take = async (name: string, more: object = {}): Promise<number> => {
  const body = { name, url: addressOf(name), allow_private: true, bring_rules: true, ...more };
  const { id } = (await gateway.call('POST', '/subscriptions', body)).body;
  // The first automatic refresh may come before ours.
  expect(['updated', 'not_modified']).toContain((await refresh(id)).status);
  return id;
};
const refresh = async (id: number): Promise<AnyJson> =>
  (await gateway.call('POST', `/subscriptions/${id}/refresh?force=true`)).body;
const remove = (id: number) => gateway.call('DELETE', `/subscriptions/${id}`);
const groupsOf = async (id: number): Promise<AnyJson[]> =>
  (await gateway.call('GET', '/outbound')).body.groups.filter((group: AnyJson) => group.subscription_id === id);
const routeOf = async (host: string): Promise<AnyJson> =>
  (await gateway.call('POST', '/rules/test', { url: `https://${host}` })).body;
const section = (report: AnyJson, name: string) =>
  report.sections.find((found: AnyJson) => found.section === name) ?? null;
const preview = async (body: object): Promise<AnyJson> => {
  const answer = await gateway.call('POST', '/subscriptions/preview', body);
  expect(answer.status).toBe(200);
  return answer.body;
};
const profiles = async (): Promise<AnyJson> => (await gateway.call('GET', '/profiles')).body;

describe('a profile with all rules written out', () => {
  const RULES = 12_000;

  it('is previewed with figures for each section, without storing anything', async () => {
    const { text, rules } = writtenOutProfile(nodes(), RULES);
    const before = (await gateway.call('GET', '/outbound')).body.groups.length;
    const seen = await preview({ text, name: '机场' });
    expect(seen).toMatchObject({ format: 'clash', nodes: 2, active_subscription_id: null });
    expect(seen.groups.map(({ stored_as }: AnyJson) => stored_as)).toContain('🚀 节点选择');
    expect(section(seen.report, 'groups')).toMatchObject({ total: 6, carried: 6, left_out: 0 });
    expect(section(seen.report, 'rules')).toEqual({
      section: 'rules',
      total: rules,
      carried: rules - 1,
      replaced: 0,
      left_out: 1,
    });
    expect(seen.report.notes).toContainEqual(
      expect.objectContaining({ section: 'rules', reason: 'needs_operating_system', count: 1 }),
    );
    const chinese = await gateway.call(
      'POST',
      '/subscriptions/preview',
      { text: writtenOutProfile(nodes(), 10).text },
      { 'accept-language': 'zh-CN' },
    );
    expect(chinese.body.report.notes[0].message).toMatch(/\p{Script=Han}/u);
    expect((await gateway.call('GET', '/outbound')).body.groups).toHaveLength(before);
    expect((await profiles()).total).toBe(0);
  });

  it('routes as it says, keeps choices over a refresh, and gives way with one call', async () => {
    documents['written-out'] = writtenOutProfile(nodes(), RULES).text;
    const id = await take('written-out');
    const groups = await groupsOf(id);
    expect(groups.map(({ name }) => name)).toEqual([
      '🚀 节点选择',
      '♻️ 自动选择',
      '🌍 国外媒体',
      '🎯 全球直连',
      '🛑 全球拦截',
      '🐟 漏网之鱼',
    ]);
    const rules = (await gateway.call('GET', '/rules?source=subscription')).body;
    expect(rules.total).toBe(RULES - 1);
    expect(rules.items.filter(({ valid }: AnyJson) => !valid)).toEqual([]);

    const [first, second] = nodes().map(({ name }) => name);
    const choose = (group: string, proxy: string) =>
      gateway.call('PUT', `/outbound/groups/${encodeURIComponent(group)}`, { proxy });
    expect((await choose('🚀 节点选择', second!)).status).toBe(200);
    expect((await choose('🌍 国外媒体', first!)).status).toBe(200);
    expect((await routeOf('host2.example')).target).toBe('🌍 国外媒体');
    await through('host3.example', upstreams[1]);
    await through('host2.example', upstreams[0]);

    await refresh(id);
    expect((await groupsOf(id)).find(({ name }) => name === '🚀 节点选择')).toMatchObject({ now: second, fixed: true });
    await gateway.call('POST', '/rules', { raw: 'DOMAIN,host3.example,🌍 国外媒体' });
    await through('host3.example', upstreams[0]);

    expect(await profiles()).toMatchObject({ total: 1, active_subscription_id: id, previous_subscription_id: null });
    const back = await gateway.call('PUT', '/profiles/active', { subscription_id: null });
    expect(back.body).toMatchObject({ active_subscription_id: null, previous_subscription_id: id, can_go_back: true });
    expect(await routeOf('host2.example')).toMatchObject({ matched: false });
    expect((await routeOf('host3.example')).target).toBe('🌍 国外媒体');
    await gateway.call('PUT', '/profiles/active', { subscription_id: id });
    expect((await routeOf('host2.example')).target).toBe('🌍 国外媒体');
    const own = (await gateway.call('GET', '/rules?source=manual')).body.items;
    for (const rule of own) await gateway.call('DELETE', `/rules/${rule.id}`);
    await remove(id);
    expect(await groupsOf(id)).toEqual([]);
    expect(await profiles()).toMatchObject({ total: 0, active_subscription_id: null, can_go_back: false });
  });
});

describe('rules that were made here', () => {
  it('stand before those of the profile, or behind them and before its closing MATCH', async () => {
    documents['around'] =
      `proxies:\n  - {name: N, type: http, server: 127.0.0.1, port: 9}\nrules:\n  - DOMAIN,both.example,REJECT\n  - MATCH,DIRECT\n  - DOMAIN,dead.example,REJECT\n`;
    const id = await take('around');
    const add = async (raw: string, more = {}): Promise<AnyJson> =>
      (await gateway.call('POST', '/rules', { raw, ...more })).body;
    const behind = await add('DOMAIN-SUFFIX,example,REJECT-DROP', { after_profile: true });
    const before = await add('DOMAIN,first.example,DIRECT');
    expect([behind.after_profile, before.after_profile]).toEqual([true, false]);
    const merged = (await gateway.call('GET', '/rules/merged')).body.items.map(({ raw }: AnyJson) => raw);
    expect(merged).toEqual([
      'DOMAIN,first.example,DIRECT',
      'DOMAIN,both.example,REJECT',
      'DOMAIN-SUFFIX,example,REJECT-DROP',
      'MATCH,DIRECT',
      'DOMAIN,dead.example,REJECT',
    ]);
    expect((await routeOf('both.example')).target).toBe('REJECT');
    expect((await routeOf('other.example')).target).toBe('REJECT-DROP');
    expect((await routeOf('else.test')).target).toBe('DIRECT');

    const { rules } = (await gateway.call('GET', '/rules/export')).body;
    const all = (await gateway.call('GET', '/rules?source=manual')).body.items;
    for (const rule of all) await gateway.call('DELETE', `/rules/${rule.id}`);
    await gateway.call('POST', '/rules/import', { rules });
    expect((await routeOf('both.example')).target).toBe('REJECT');
    const again = (await gateway.call('GET', '/rules?source=manual')).body.items;
    expect(again.filter(({ after_profile: after }: AnyJson) => after).map(({ raw }: AnyJson) => raw)).toEqual([
      behind.raw,
    ]);
    const moved = again.find(({ raw }: AnyJson) => raw === behind.raw);
    await gateway.call('PUT', `/rules/${moved.id}`, { after_profile: false });
    expect((await routeOf('both.example')).target).toBe('REJECT-DROP');
    for (const rule of again) await gateway.call('DELETE', `/rules/${rule.id}`);
    await remove(id);
  });
});

describe('several profiles', () => {
  it('keep their names apart, and the first one drives the rules until another is chosen', async () => {
    documents['reject.txt'] = "payload:\n  - '+.ads.example'\n";
    documents['proxy.txt'] = "payload:\n  - '+.far.example'\n";
    documents['lancidr.txt'] = "payload:\n  - '10.0.0.0/8'\n";
    documents['one'] = ruleProviderProfile(nodes(), addressOf('lists')).text;
    documents['two'] = ruleProviderProfile(nodes(), addressOf('lists')).text;
    const [one, two] = [await take('one'), await take('two')];
    // The gateway has a group PROXY of its own.
    expect((await groupsOf(one)).map(({ name, profile_name }) => [name, profile_name])).toEqual([
      ['one/PROXY', 'PROXY'],
    ]);
    expect((await groupsOf(two)).map(({ name }) => name)).toEqual(['two/PROXY']);
    const sets = (await gateway.call('GET', '/rule-sets')).body.items.map(({ name }: AnyJson) => name);
    expect(sets).toEqual(expect.arrayContaining(['reject', 'proxy', 'applications', 'reject@two', 'applications@two']));
    await waitFor(async () => (await routeOf('a.ads.example')).target === 'REJECT');
    await waitFor(async () => (await routeOf('a.far.example')).target === 'one/PROXY');
    expect((await routeOf('x.apps.example')).target).toBe('DIRECT');
    const waiting = (await gateway.call('GET', '/rules?source=subscription&limit=500')).body.items;
    expect(waiting.find(({ subscription_id }: AnyJson) => subscription_id === two)).toMatchObject({
      valid: false,
      error: `the profile of subscription ${two} is not active`,
    });
    await gateway.call('PUT', '/profiles/active', { subscription_id: two });
    await waitFor(async () => (await routeOf('a.far.example')).target === 'two/PROXY');
    const { items } = await profiles();
    expect(items[0].report.notes.map(({ reason }: AnyJson) => reason)).toEqual(
      expect.arrayContaining([
        'file_elsewhere',
        'geo_category',
        'target_replaced',
        'entries_left_out',
        'group_renamed',
      ]),
    );
    expect((await gateway.call('PATCH', '/outbound/groups/two%2FPROXY', { hidden: true })).status).toBe(409);
    expect((await gateway.call('DELETE', '/outbound/groups/two%2FPROXY')).status).toBe(409);
    await gateway.call('PUT', `/subscriptions/${two}`, { bring_rules: false });
    expect(await groupsOf(two)).toEqual([]);
    expect(await profiles()).toMatchObject({ total: 1, active_subscription_id: null });
    for (const id of [one, two]) await remove(id);
    expect((await gateway.call('GET', '/rule-sets')).body.total).toBe(0);
  });
});

describe('a profile with providers, filters and sub-rules', () => {
  it('takes nodes of its providers by its filters, and writes its sub-rules out', async () => {
    const [near, far] = nodes();
    documents['airport'] =
      `proxies:\n  - {name: HK far, type: http, server: 127.0.0.1, port: ${far!.port}}\n  - {name: 官网 HK, type: http, server: 127.0.0.1, port: 9}\n`;
    documents['whole'] = mihomoProfile([near!], addressOf('airport')).text;
    const id = await take('whole');
    const providers = (await gateway.call('GET', '/subscriptions')).body.items.filter(
      (each: AnyJson) => each.profile_id === id,
    );
    expect(providers).toMatchObject([
      { name: 'whole/机场', allow_private: true, interval_sec: 3600 },
      // A document must not lead to services that only this machine reaches.
      { name: 'whole/elsewhere', allow_private: false },
    ]);
    const inside = await refresh(providers[1].id);
    expect(inside).toMatchObject({ status: 'failed', reason: 'blocked_address' });
    await gateway.call('POST', `/subscriptions/${providers[0].id}/refresh?force=true`);
    const members = async (name: string) => (await groupsOf(id)).find((group) => group.name === name)?.all;
    await waitFor(async () => (await members('香港'))?.length === 2);
    expect(await members('香港')).toEqual([near!.name, 'HK far']);
    expect(await members('只用机场')).toEqual(['HK far']);
    expect(await members('链式')).toEqual([]);
    expect(await routeOf('a.sub.example')).toMatchObject({ target: '香港', rule: { type: 'AND' } });
    expect((await routeOf('one.example')).target).toBe('香港');
    const [{ report }] = (await profiles()).items;
    expect(section(report, 'groups')).toMatchObject({ total: 6, replaced: 2 });
    expect(report.notes.map(({ section: of, reason, examples }: AnyJson) => [of, reason, examples])).toEqual(
      expect.arrayContaining([
        ['groups', 'relay_rejects', ['链式']],
        ['groups', 'group_loop', ['循环']],
        ['rules', 'target_missing', ['DOMAIN,gone.example,没有这个组']],
        ['dns', 'server_kind', ['tls://dot.example']],
        ['hosts', 'host_alias', ['alias.example']],
        ['proxy_providers', 'becomes_subscription', ['机场', 'elsewhere']],
        ['sub_rules', 'sub_rule_written_out', ['tcp-first']],
      ]),
    );
    await remove(id);
    expect((await gateway.call('GET', '/subscriptions')).body.total).toBe(0);
    expect((await gateway.call('GET', '/proxies')).body.total).toBe(0);
  });

  it('refuses a preview without a source, and says why one cannot be used', async () => {
    expect((await gateway.call('POST', '/subscriptions/preview', {})).status).toBe(400);
    expect((await gateway.call('POST', '/subscriptions/preview', { text: '<html></html>' })).status).toBe(422);
    const gone = { url: addressOf('nowhere'), allow_private: true };
    expect((await gateway.call('POST', '/subscriptions/preview', gone)).status).toBe(502);
    expect((await gateway.call('PUT', '/profiles/active', { subscription_id: 999 })).status).toBe(422);
  });
});

/** A real connection for `host`, which has to arrive through this node. */
async function through(host: string, upstream: UpstreamProxy): Promise<void> {
  const before = upstream.targets.length;
  const socket = await tunnelThrough(gateway.proxyPort, host, target.port).catch(() => null);
  expect(upstream.targets.slice(before)).toContain(`${host}:${target.port}`);
  socket?.destroy();
}
