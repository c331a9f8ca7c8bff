import type {
  KernelListenerView,
  NodeView,
  OutboundGroupView,
  ProxyUserView,
  PublicationView,
  RefreshResult,
} from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { formOf as groupForm, groupChanges, toBody as groupBody } from './groups/group-form.js';
import { nodeChanges } from './nodes/node-changes.js';
import { describeTest } from './nodes/test-progress.js';
import { toBody as ruleSetBody, formOf as ruleSetForm } from './rules/rule-set-form.js';
import { changedSettings, findSettings, groupSettings, wordFor } from './settings/setting-catalogue.js';
import { addressOf } from './publications/address.js';
import { describeRemark } from './publications/describe-remark.js';
import {
  formOf as publicationForm,
  publicationChanges,
  toBody as publicationBody,
} from './publications/publication-form.js';
import { stateOf } from './publications/publication-state.js';
import { describeRefresh } from './subscriptions/describe-refresh.js';
import { expiryTone, quotaOf } from './subscriptions/quota-state.js';
import { proxyAddresses } from './users/proxy-addresses.js';
import { formOf as userForm, userChanges } from './users/user-form.js';
import { formOf as subscriptionForm, toBody as subscriptionBody } from './subscriptions/subscription-form.js';

describe('a node that is edited', () => {
  const node = { name: 'a', country: 'DE', country_source: 'name', tags: ['x'], raw_config: '{}' } as NodeView;
  const form = { name: 'a', country: '', tags: 'x', raw_config: '{}' };

  it('sends nothing where nothing changed', () => {
    expect(nodeChanges(node, form, ['x'])).toEqual({});
  });

  it('sends each change alone, and null to have the country detected again', () => {
    expect(nodeChanges(node, { ...form, country: ' jp ' }, ['x'])).toEqual({ country: 'JP' });
    expect(nodeChanges(node, { ...form, name: 'b' }, [])).toEqual({ name: 'b', tags: [] });
    const manual: NodeView = { ...node, country_source: 'manual' };
    expect(nodeChanges(manual, { ...form, country: '' }, ['x'])).toEqual({ country: null });
  });
});

describe('a group', () => {
  it('comes back from its form as it was', () => {
    const group = {
      name: 'G',
      type: 'url-test',
      listed: ['n1', 'DIRECT'],
      filter: { name: 'x', countries: ['DE'], subscription_ids: [3] },
      exclude: { name: 'y' },
      include_countries: true,
      test_url: null,
      expected_status: '204',
      interval_sec: 60,
      tolerance_ms: 0,
      lazy: true,
      strategy: null,
      empty_fallback: 'REJECT',
      hidden: true,
    } as OutboundGroupView;
    const { listed, ...same } = group;
    expect(groupBody(groupForm(group))).toEqual({ ...same, members: listed });
  });

  it('is changed in what was changed, so that what holds by default does not become its own', () => {
    const group = { name: 'G', type: 'url-test', listed: [], filter: {}, test_url: 'https://a.example' } as unknown;
    const form = groupForm(group as OutboundGroupView);
    expect(groupChanges(group as OutboundGroupView, form)).toEqual({});
    expect(groupChanges(group as OutboundGroupView, { ...form, takes: 'none', lazy: !form.lazy })).toEqual({
      filter: null,
      lazy: false,
    });
  });

  it('distinguishes no, all and some nodes', () => {
    const form = groupForm(null);
    expect(groupBody(form)['filter']).toBeNull();
    expect(groupBody({ ...form, takes: 'all', countries: 'DE' })['filter']).toEqual({});
    expect(groupBody({ ...form, takes: 'some', countries: 'de jp' })['filter']).toEqual({ countries: ['DE', 'JP'] });
    expect(groupBody({ ...form, interval_sec: 'often' })['interval_sec']).toBe('often');
  });
});

describe('a subscription', () => {
  it('leaves the interval to the provider unless one is given', () => {
    const form = { ...subscriptionForm(null), name: 'a', url: 'https://a.example' };
    expect(subscriptionBody(form)).not.toHaveProperty('interval_sec');
    expect(subscriptionBody({ ...form, interval: '0,5' })).toMatchObject({ interval_sec: 1_800 });
    expect(subscriptionBody({ ...form, interval: 'often' })).toMatchObject({ interval_sec: 'often' });
    expect(subscriptionBody(form)).not.toHaveProperty('interval');
  });

  it('has a quota only where the provider states one', () => {
    const traffic = { upload: 10, download: 85, total: 100, remaining: 5, used_percent: 95, expire_at: null };
    expect(quotaOf(traffic)).toEqual({ used: 95, ratio: 0.95, tone: 'bad' });
    expect(quotaOf({ ...traffic, total: 0 }).ratio).toBeNull();
    expect(quotaOf({ ...traffic, upload: null, download: null })).toMatchObject({ used: null, ratio: null });
  });

  it('is near its end for a week', () => {
    const now = Date.parse('2026-05-01T00:00:00Z');
    expect(
      ['2026-04-30T00:00:00Z', '2026-05-07T00:00:00Z', '2026-06-01T00:00:00Z', null].map((end) => expiryTone(end, now)),
    ).toEqual(['bad', 'fair', 'none', 'none']);
  });

  it('says what a refresh did', () => {
    const result = {
      status: 'updated',
      message: null,
      added: 3,
      updated: 1,
      retained: 7,
      removed: 2,
      skipped: 1,
    } as RefreshResult;
    expect(describeRefresh(result)).toBe('Updated: 3 new, 1 changed, 7 unchanged, 2 removed, 1 entry skipped.');
    expect(describeRefresh({ ...result, status: 'kept_previous', message: 'It was empty.' })).toBe(
      'The previous nodes were kept: It was empty.',
    );
  });
});

describe('a publication', () => {
  const publication = {
    name: 'P',
    enabled: true,
    sources: { subscription_ids: [3], tags: ['a b'], manual: true },
    steps: [
      { do: 'keep', name: 'x', countries: ['DE'], types: ['ss'], tags: ['t'], health: 'alive' },
      { do: 'rename', pattern: 'a', replacement: '' },
      { do: 'sort', by: 'delay', descending: true },
      { do: 'dedupe', same: 'name' },
      { do: 'limit', count: 5 },
    ],
    template: 'rules',
    template_ids: [7],
    expires_at: '2026-05-01T00:00:30.000Z',
    fetches_per_hour: 60,
    allowed_addresses: ['203.0.113.0/24', '2001:db8::1'],
  } as unknown as PublicationView;

  it('comes back from its form as it was, and only what was changed is sent', () => {
    const form = publicationForm(publication);
    const { sources, steps, template, template_ids, allowed_addresses } = publication;
    expect(publicationBody(form)).toMatchObject({
      name: 'P',
      sources,
      steps,
      template,
      template_ids,
      allowed_addresses,
    });
    expect(publicationChanges(publication, form)).toEqual({});
    expect(publicationChanges(publication, { ...form, fetches_per_hour: '', takes: 'all' })).toEqual({
      sources: {},
      fetches_per_hour: null,
    });
  });

  it('distinguishes every node from none', () => {
    const form = publicationForm(null);
    expect(publicationBody(form)['sources']).toEqual({});
    expect(publicationBody({ ...form, takes: 'some' })['sources']).toEqual({ subscription_ids: [] });
    expect(publicationBody({ ...form, takes: 'some', tags: 'a' })['sources']).toEqual({ tags: ['a'] });
    expect(publicationBody({ ...form, fetches_per_hour: 'often' })['fetches_per_hour']).toBe('often');
  });

  it('has its address beside the page, below the path of a proxy too', () => {
    expect(addressOf('/api/v1/sub/t', 'https://a.example/x/')).toBe('https://a.example/x/api/v1/sub/t');
    expect(addressOf('/api/v1/sub/t', 'https://a.example/', 'surge')).toBe(
      'https://a.example/api/v1/sub/t?target=surge',
    );
  });

  it('answers while it is on and not expired', () => {
    const end = Date.parse(publication.expires_at!);
    expect([end - 1, end].map((now) => stateOf(publication, now))).toEqual(['on', 'expired']);
    expect(stateOf({ ...publication, enabled: false }, end)).toBe('off');
  });

  it('says what a format leaves out, and why', () => {
    const remark = {
      outcome: 'left_out',
      reason: 'node_type',
      field: 'vless',
      count: 2,
      examples: ['a', 'b'],
    } as const;
    expect(describeRemark({ ...remark, examples: [...remark.examples] })).toBe(
      '2 left out · the format has no such type · vless · a, b',
    );
  });
});

describe('rule sets', () => {
  it('send what their type has', () => {
    const form = {
      ...ruleSetForm(null),
      name: 's',
      url: 'https://a.example',
      path: 'p',
      entries: 'a.example\nb.example',
    };
    expect(ruleSetBody(form, true)).toMatchObject({ type: 'http', url: 'https://a.example' });
    expect(ruleSetBody(form, true)).not.toHaveProperty('entries');
    expect(ruleSetBody({ ...form, type: 'inline' }, false)).not.toHaveProperty('type');
    const lines = ruleSetBody({ ...form, type: 'inline', behavior: 'classical', entries: 'AND,((a),(b))\n' }, true);
    expect(lines['entries']).toEqual(['AND,((a),(b))']);
  });
});

describe('settings', () => {
  it('that the console has no words for are shown all the same', () => {
    const groups = groupSettings(['auth.enabled', 'new.thing', 'health.url']);
    expect(groups.map(({ title }) => title)).toEqual(['Node tests', 'Access', 'Others']);
    expect(groups.at(-1)?.entries).toEqual([{ key: 'new.thing', label: 'new.thing' }]);
  });

  it('are found by every word of a label, a hint or a key', () => {
    const groups = groupSettings(['auth.enabled', 'health.url', 'health.timeout_ms']);
    const keysFor = (search: string): string[] =>
      findSettings(groups, search).flatMap(({ entries }) => entries.map(({ key }) => key));
    expect(keysFor('test url')).toEqual(['health.url']);
    expect(keysFor('full access')).toEqual(['auth.enabled']);
    expect(keysFor('nothing of the kind')).toEqual([]);
    expect(keysFor('')).toHaveLength(3);
  });

  it('have words for their choices, and show a choice that is new to the console as it is', () => {
    const choices = groupSettings([
      'health.unified',
      'kernel.log_level',
      'routing.mode',
      'subscription.via_proxy',
    ]).flatMap(({ entries }) => entries.flatMap((entry) => entry.choices ?? []));
    expect(choices.length).toBeGreaterThan(10);
    expect(choices.filter((choice) => wordFor(choice) === choice)).toEqual([]);
    expect(wordFor('new')).toBe('new');
  });

  it('that did not change are not sent', () => {
    expect(changedSettings({ a: '1', b: '2' }, { a: '1', b: '3' })).toEqual({ b: '3' });
  });
});

describe('a test of all nodes', () => {
  it('is shown in one line', () => {
    const progress = { total: 1_200, tested: 300, ok: 250, failed: 50, skipped: 2, concurrency: 160 };
    expect(describeTest('running', progress, null)).toBe('Testing: 300 of 1,200 nodes, 250 alive, 50 dead, 2 skipped.');
    expect(describeTest('queued', null, null)).toBe('Waiting for a worker.');
    expect(describeTest('failed', null, 'no worker')).toBe('The test failed: no worker.');
  });
});

describe('a user of the proxy', () => {
  const user = {
    name: 'ann',
    password: 'secret/1',
    note: '',
    enabled: true,
    expires_at: '2030-01-01T00:00:59.000Z',
    allowed_addresses: ['10.0.0.0/8', '::1'],
    max_connections: null,
    rate_limit: 1_000_001,
    traffic_quota: 50_000_000_000,
    quota_period: 'month',
  } as unknown as ProxyUserView;

  it('is changed in what was changed, and is not rounded to the units of the form', () => {
    const form = userForm(user);
    expect(userChanges(user, form)).toEqual({});
    expect(userChanges(user, { ...form, rate_limit: '2', traffic_quota: '', max_connections: '5' })).toEqual({
      rate_limit: 2_048,
      traffic_quota: null,
      max_connections: 5,
    });
    expect(userChanges(user, { ...form, traffic_quota: '1.5', password: 'another-one' })).toEqual({
      traffic_quota: 1_610_612_736,
      password: 'another-one',
    });
    expect(userChanges(user, { ...form, rate_limit: 'fast' })).toEqual({ rate_limit: 'fast' });
  });

  it('has the addresses of the listeners that are open', () => {
    const common = { address: '0.0.0.0', port: 7890, state: 'listening', error: null } as const;
    const listener: KernelListenerView = { type: 'mixed', name: 'mixed', ...common };
    const urls = (listeners: KernelListenerView[]): string[] =>
      proxyAddresses(user, listeners, 'gate.example').map(({ url }) => url);
    expect(urls([listener])).toEqual([
      'http://ann:secret%2F1@gate.example:7890',
      'socks5h://ann:secret%2F1@gate.example:7890',
    ]);
    const socks = { ...listener, name: 'socks', type: 'socks', address: '::1', port: 1080 };
    expect(urls([{ ...listener, state: 'failed' }, socks])).toEqual(['socks5h://ann:secret%2F1@[::1]:1080']);
    expect(urls([])).toEqual([]);
  });
});
