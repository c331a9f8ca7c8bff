import { waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';
import { startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';

let gateway: Gateway;
let provider: Provider;
beforeAll(async () => {
  [gateway, provider] = await Promise.all([startGateway(), startProvider()]);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const NODES = `proxies:
  - {name: Tokyo, type: ss, server: 192.0.2.1, port: 8388, cipher: aes-128-gcm, password: a}
  - {name: n1, type: ss, server: 192.0.2.2, port: 8388, cipher: aes-128-gcm, password: b}
`;
const document = (...rules: string[]) => `${NODES}rules:\n${rules.map((rule) => `  - ${rule}\n`).join('')}`;
const reply = (text: string) => {
  provider.reply = (_request, response) => response.end(text);
};
const subscribe = async (more: object = {}) => {
  const body = { name: 'one', url: provider.url, allow_private: true, bring_rules: true, ...more };
  return (await gateway.call('POST', '/subscriptions', body)).body;
};
const refresh = (id: number) => gateway.call('POST', `/subscriptions/${id}/refresh?force=true`);
const brought = async (): Promise<AnyJson[]> => (await gateway.call('GET', '/rules?source=subscription')).body.items;
const remove = (id: number) => gateway.call('DELETE', `/subscriptions/${id}`);

describe('rules of a subscription', () => {
  it('come after all others, with their targets resolved', async () => {
    await gateway.call('POST', '/rules', { raw: 'DOMAIN,manual.example,DIRECT' });
    reply(
      document(
        'DOMAIN,node.example,Tokyo',
        'DOMAIN,named-like-a-tag.example,n1',
        'DOMAIN,group.example,PROXY',
        'DOMAIN,foreign.example,Netflix',
        'DOMAIN,tag.example,n7777',
        'PROCESS-NAME,x,DIRECT',
        'RULE-SET,theirs,DIRECT',
        'MATCH,direct',
      ),
    );
    const subscription = await subscribe();
    await refresh(subscription.id);
    const rules = await brought();
    const nodes = (await gateway.call('GET', '/proxies')).body.items;
    const tagOf = (name: string) => `n${nodes.find((node: AnyJson) => node.name === name).id}`;
    expect(rules.map(({ payload, target, valid }) => [payload, target, valid])).toEqual([
      ['node.example', tagOf('Tokyo'), true],
      ['named-like-a-tag.example', tagOf('n1'), true],
      ['group.example', 'PROXY', true],
      ['foreign.example', 'Netflix', false],
      ['tag.example', '"n7777"', false],
      ['theirs', 'DIRECT', false],
      ['', 'DIRECT', true],
    ]);
    expect(rules[3]).toMatchObject({
      error: 'target Netflix does not exist',
      note: '"Netflix" is not a group or node here',
      subscription_id: subscription.id,
      source: 'subscription',
    });
    const merged = (await gateway.call('GET', '/rules/merged')).body;
    expect(merged.items.map(({ source }: AnyJson) => source)).toEqual(['manual', ...rules.map(() => 'subscription')]);
    expect((await gateway.call('POST', '/rules/test', { url: 'https://unknown.example' })).body).toMatchObject({
      rule: { type: 'MATCH', source: 'subscription' },
    });
    for (const [method, body] of [
      ['PUT', { enabled: false }],
      ['DELETE', undefined],
    ] as const) {
      expect((await gateway.call(method, `/rules/${rules[0].id}`, body)).status).toBe(409);
    }
    const file = await gateway.call('GET', '/rules/export');
    expect(file.body.rules).toHaveLength(1);
    await gateway.call('POST', '/rules/import?allow_empty=true', { mode: 'replace', rules: [] });
    expect(await brought()).toHaveLength(7);
    await remove(subscription.id);
    expect(await brought()).toEqual([]);
    expect((await gateway.call('GET', '/rules/merged')).body.total).toBe(0);
  });

  it('follow the last good reply; unchanged ones keep their id and their hits', async () => {
    reply(document('DOMAIN,a.example,DIRECT', 'DOMAIN,b.example,DIRECT'));
    const { id } = await subscribe();
    await refresh(id);
    const before = await brought();
    await gateway.app.app.get(DataSource).query('UPDATE rules SET hit_count = id + 100');
    for (const bad of ['', '<html></html>', 'rules:\n  - MATCH,REJECT\n']) {
      reply(bad);
      await refresh(id);
      expect((await brought()).map((rule) => rule.id)).toEqual(before.map((rule) => rule.id));
    }
    reply(document('DOMAIN,c.example,DIRECT', 'DOMAIN,b.example,DIRECT'));
    await refresh(id);
    const after = await brought();
    expect(after.map(({ payload, hit_count }) => [payload, hit_count])).toEqual([
      ['c.example', 0],
      ['b.example', before[1].id + 100],
    ]);
    expect(after[1].id).toBe(before[1].id);
    expect(await waitFor(async () => (await test('https://c.example')).matched)).toBe(true);
    await remove(id);
  });

  it('come and go with the option', async () => {
    reply(document('DOMAIN,a.example,DIRECT'));
    const { id } = await subscribe({ bring_rules: false });
    await refresh(id);
    expect(await brought()).toEqual([]);
    await gateway.call('PUT', `/subscriptions/${id}`, { bring_rules: true });
    await refresh(id);
    expect(await brought()).toHaveLength(1);
    expect((await test('https://a.example')).matched).toBe(true);
    await gateway.call('PUT', `/subscriptions/${id}`, { bring_rules: false });
    expect(await brought()).toEqual([]);
    expect((await test('https://a.example')).matched).toBe(false);
    await remove(id);
  });
});

async function test(url: string): Promise<AnyJson> {
  return (await gateway.call('POST', '/rules/test', { url })).body;
}
