import { RULE_TYPES } from '@gatehouse/proxy-kernel';
import type { TracedDecision } from '@gatehouse/proxy-kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { RULE_PAYLOADS } from './support/rule-payloads.js';
import { startTestApi } from './support/test-api.js';
import type { TestApi } from './support/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    prepare: (dataSource) =>
      dataSource.query(`INSERT INTO nodes (fingerprint, source, original_name, type, server, port, network, tls, udp, config, enabled, country)
        VALUES ('a', 'manual', 'Tokyo', 'ss', 's', 1, 'tcp', 'none', true, 'sealed', true, 'JP'),
               ('b', 'manual', 'Twin', 'ss', 's', 2, 'tcp', 'none', true, 'sealed', true, NULL),
               ('c', 'manual', 'Twin', 'ss', 's', 3, 'tcp', 'none', true, 'sealed', true, NULL),
               ('d', 'manual', 'Off', 'ss', 's', 4, 'tcp', 'none', true, 'sealed', false, NULL),
               ('e', 'manual', 'n1', 'ss', 's', 5, 'tcp', 'none', true, 'sealed', true, NULL)`),
  });
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.dataSource.query('TRUNCATE rules RESTART IDENTITY');
  api.kernel.config = null;
});

const create = async (body: object) => (await api.call('POST', '/rules', body)).body;
const list = async (query = '') => (await api.call('GET', `/rules${query}`)).body;
const payloads = async (): Promise<string[]> => (await list()).items.map((rule: { payload: string }) => rule.payload);
const domain = (payload: string, more: object = {}) => ({ type: 'DOMAIN', payload, target: 'DIRECT', ...more });

describe('rules', () => {
  it('adds one, shows every field, and updates the kernel', async () => {
    const before = api.kernel.syncs;
    const answer = await api.call('POST', '/rules', {
      type: 'ip-cidr',
      payload: '10.0.0.0/8',
      target: 'Tokyo',
      no_resolve: true,
      note: 'office',
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: 1,
      source: 'manual',
      type: 'IP-CIDR',
      payload: '10.0.0.0/8',
      target: 'n1',
      target_name: 'Tokyo',
      options: { no_resolve: true, src: false },
      enabled: true,
      after_profile: false,
      priority: expect.any(Number),
      index: 0,
      size: -1,
      note: 'office',
      raw: 'IP-CIDR,10.0.0.0/8,n1,no-resolve',
      subscription_id: null,
      rule_set_id: null,
      hit_count: 0,
      hit_at: null,
      valid: true,
      error: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(api.kernel.syncs).toBe(before + 1);
    expect(await list()).toEqual({ items: [answer.body], total: 1 });
  });

  it.each([
    ['PROXY', 'PROXY', 'PROXY'],
    ['direct', 'DIRECT', 'DIRECT'],
    ['REJECT-DROP', 'REJECT-DROP', 'REJECT-DROP'],
    ['PASS', 'PASS', 'PASS'],
    ['Tokyo', 'n1', 'Tokyo'],
    ['n3', 'n3', 'Twin'],
    // The tag of the first node, not the node with that name.
    ['n1', 'n1', 'Tokyo'],
  ])('takes %s for %s', async (text, target, name) => {
    expect(await create(domain('a.example', { target: text }))).toMatchObject({
      target,
      target_name: name,
      valid: true,
    });
  });

  it.each(['Nowhere', 'n99', 'Twin', 'proxy', ''])('refuses the target %j', async (target) => {
    const answer = await api.call('POST', '/rules', domain('a.example', { target }));
    expect(answer.status).toBe(target === '' ? 400 : 422);
    expect(answer.body.details).toMatchObject([{ field: 'target' }]);
    expect(await payloads()).toEqual([]);
  });

  it('explains how to name one of two nodes with the same name', async () => {
    const answer = await api.call('POST', '/rules', domain('a.example', { target: 'Twin' }));
    expect(answer.body.error).toContain('use n2 or n3');
  });

  it.each(RULE_TYPES)('accepts %s, in fields and as a line, and writes it as a line', async (type) => {
    for (const payload of RULE_PAYLOADS[type] ?? []) {
      const rule = await create({ type, payload, target: 'DIRECT' });
      expect(rule, JSON.stringify(rule)).toMatchObject({ type, payload, target: 'DIRECT' });
      expect(await create({ raw: rule.raw })).toMatchObject({ type, payload, raw: rule.raw });
    }
    expect((await list()).total).toBe(2 * (RULE_PAYLOADS[type] ?? []).length);
  });

  it('accepts a Clash line', async () => {
    expect(await create({ raw: 'DOMAIN-SUFFIX, Example.com , PROXY' })).toMatchObject({
      type: 'DOMAIN-SUFFIX',
      target: 'PROXY',
      raw: expect.stringMatching(/^DOMAIN-SUFFIX,example\.com,PROXY$/i),
    });
  });

  it.each<[object, number, string]>([
    [{ type: 'DOMAIN', payload: 'a.example' }, 400, 'target'],
    [{ type: 'IP-CIDR', payload: '10.0.0.0/40', target: 'DIRECT' }, 400, 'payload'],
    [{ type: 'PROCESS-NAME', payload: 'x', target: 'DIRECT' }, 400, 'type'],
    [{ raw: 'DOMAIN,a.example' }, 400, 'raw'],
    [{ ...domain('a.example'), colour: 'red' }, 400, 'colour'],
    [{ ...domain('a.example'), enabled: 'yes' }, 400, 'enabled'],
    [{ ...domain('a.example'), priority: 1.5 }, 400, 'priority'],
    [{ ...domain('a.example'), before_id: 77 }, 422, 'before_id'],
    [{ ...domain('a.example'), note: 5 }, 400, 'note'],
    [{ ...domain('a.example'), note: 'a\0b' }, 400, 'note'],
    [{ ...domain('a.example'), target: 'a\0b' }, 400, 'target'],
    [{ raw: 'DOMAIN,a.example,a\0b' }, 400, 'raw'],
    [{ ...domain('a.example'), priority: null }, 400, 'priority'],
    [{ raw: null }, 400, 'raw'],
  ])('refuses %j', async (body, status, field) => {
    const answer = await api.call('POST', '/rules', body);
    expect(answer.status).toBe(status);
    expect(answer.body.details.map((detail: { field: string }) => detail.field)).toContain(field);
    expect(await payloads()).toEqual([]);
  });

  it('keeps the requested order', async () => {
    await create(domain('a'));
    const b = await create(domain('b'));
    await create({ type: 'MATCH', target: 'DIRECT' });
    await create(domain('c'));
    expect(await payloads()).toEqual(['a', 'b', 'c', '']);
    await create(domain('d', { before_id: b.id }));
    await create(domain('e', { after_id: b.id }));
    await create(domain('f', { priority: -5 }));
    expect(await payloads()).toEqual(['f', 'a', 'd', 'b', 'e', 'c', '']);
    await api.call('PUT', `/rules/${b.id}`, { after_id: (await list()).items[5].id });
    expect(await payloads()).toEqual(['f', 'a', 'd', 'e', 'c', 'b', '']);
    expect((await list()).items.map((rule: { index: number }) => rule.index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('keeps the order when many are inserted at one place at once', async () => {
    const last = await create(domain('last'));
    await Promise.all(Array.from({ length: 30 }, (_, index) => create(domain(`p${index}`, { before_id: last.id }))));
    const order = await payloads();
    expect(order).toHaveLength(31);
    expect(order.at(-1)).toBe('last');
    const priorities = (await list()).items.map((rule: { priority: number }) => rule.priority);
    expect(new Set(priorities).size).toBe(31);
  });

  it('changes the given fields only', async () => {
    const rule = await create(domain('a.example', { note: 'x' }));
    const answer = await api.call('PUT', `/rules/${rule.id}`, { enabled: false });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...rule, enabled: false, index: null, updated_at: expect.any(String) });
    expect((await api.call('PUT', `/rules/${rule.id}`, { note: null, payload: 'b.example' })).body).toMatchObject({
      payload: 'b.example',
      note: null,
      enabled: false,
    });
    expect(
      (await api.call('PUT', `/rules/${rule.id}`, domain('c.example', { target: 'PROXY', enabled: true }))).body,
    ).toMatchObject({
      payload: 'c.example',
      target: 'PROXY',
      index: 0,
    });
  });

  it('leaves a rule as it was when a change is refused', async () => {
    const rule = await create(domain('a.example'));
    for (const body of [{ target: 'Nowhere' }, { type: 'IP-CIDR' }, { before_id: rule.id }]) {
      expect((await api.call('PUT', `/rules/${rule.id}`, body)).status).toBeGreaterThanOrEqual(400);
    }
    expect((await list()).items).toEqual([rule]);
  });

  it('shows why a rule is skipped, and still lets it be changed', async () => {
    const gone = await create(domain('a.example', { target: 'n1' }));
    await create(domain('b.example', { target: 'n4' }));
    await api.dataSource.query('UPDATE rules SET target = $1 WHERE id = $2', ['n77', gone.id]);
    expect((await list()).items).toMatchObject([
      { target: 'n77', target_name: null, valid: false, error: 'target n77 does not exist' },
      { target: 'n4', target_name: 'Off', valid: false, error: 'node n4 is disabled' },
    ]);
    expect((await api.call('PUT', `/rules/${gone.id}`, { note: 'later' })).status).toBe(200);
  });

  it('shows when only an external kernel could dial the target', async () => {
    await create(domain('a.example', { target: 'n1' }));
    api.kernel.config = { mode: 'rule', listeners: [], outbounds: [], groups: [], rules: [], defaultPolicy: 'DIRECT' };
    expect((await list()).items).toMatchObject([{ valid: false, error: 'node n1 needs an external kernel' }]);
  });

  it('deletes, and answers 404 for unknown rules', async () => {
    const rule = await create(domain('a.example'));
    const answer = await api.call('DELETE', `/rules/${rule.id}`);
    expect(answer).toMatchObject({ status: 200, body: { id: rule.id, deleted: true } });
    expect((await api.call('DELETE', `/rules/${rule.id}`)).status).toBe(404);
    expect((await api.call('PUT', `/rules/${rule.id}`, { enabled: true })).status).toBe(404);
    expect((await api.call('PUT', '/rules/x', { enabled: true })).status).toBe(400);
    expect((await api.call('PUT', '/rules/99999999999999999999999', {})).status).toBe(400);
  });

  it('lists one source without the others', async () => {
    await create(domain('a.example'));
    await api.dataSource.query(
      `INSERT INTO rules (source, type, payload, target, priority) VALUES ('subscription', 'DOMAIN', 's', 'DIRECT', 9)`,
    );
    expect((await list('?source=manual')).total).toBe(1);
    expect((await list('?source=subscription')).items).toMatchObject([{ payload: 's', source: 'subscription' }]);
    expect((await list('?source=ruleset')).items).toEqual([]);
    expect((await api.call('GET', '/rules?source=mine')).status).toBe(400);
    expect(await list('?limit=1&offset=1')).toMatchObject({
      total: 2,
      limit: 1,
      offset: 1,
      items: [{ payload: 'a.example' }],
    });
    expect((await api.call('GET', '/rules?limit=501')).status).toBe(400);
    expect((await api.call('DELETE', '/rules/2')).status).toBe(409);
    expect((await api.call('PUT', '/rules/2', { enabled: false })).status).toBe(409);
  });

  it('finds by text, type and target, within a source', async () => {
    await create({ raw: 'DOMAIN-SUFFIX,example.com,Tokyo' });
    await create({ raw: 'DOMAIN-REGEX,^a_b,DIRECT' });
    await create({ type: 'IP-CIDR', payload: '10.0.0.0/8', target: 'REJECT', note: 'The office' });
    const found = async (query: string): Promise<string> => {
      const page = await list(`?${query}`);
      expect(page.total).toBe(page.items.length);
      return page.items.map(({ id }: { id: number }) => id).join('');
    };
    expect(await found('search=EXAMPLE')).toBe('1');
    expect(await found('search=domain')).toBe('12');
    expect(await found('search=tokyo&limit=5')).toBe('1');
    expect(await found('search=office')).toBe('3');
    expect(await found('search=a_b')).toBe('2');
    expect(await found('search=a%25b')).toBe('');
    expect(await found('search=suffix,example.com,n1')).toBe('1');
    expect(await found('type=domain-regex')).toBe('2');
    expect(await found('target=n1')).toBe('1');
    expect(await found('target=Tokyo')).toBe('');
    expect(await found('source=subscription&search=example')).toBe('');
    expect((await list('?search=domain&limit=1&offset=1')).items).toMatchObject([{ id: 2 }]);
    for (const query of ['search=', 'type=', 'target=', 'search=a&search=b', `search=${'x'.repeat(257)}`]) {
      expect((await api.call('GET', `/rules?${query}`)).status, query).toBe(400);
    }
  });

  it('notifies other replicas when the change is committed', async () => {
    const runner = api.dataSource.createQueryRunner();
    const client = await runner.connect();
    const notified = new Promise<string>((resolve) =>
      client.once('notification', (message: { channel: string }) => resolve(message.channel)),
    );
    await client.query('LISTEN proxy_gateway_config');
    await create(domain('a.example'));
    expect(await notified).toBe('proxy_gateway_config');
    await client.query('UNLISTEN *');
    await runner.release();
  });
});

describe('rule test', () => {
  const decision: TracedDecision = {
    rule: { id: 4, index: 2, source: 'manual', type: 'DOMAIN-SUFFIX', payload: 'example.com', target: 'PROXY' },
    target: 'PROXY',
    chain: ['PROXY', 'n1'],
    outbound: 'n1',
    resolvedIps: ['198.51.100.1'],
    trace: [
      { index: 0, type: 'IP-CIDR', payload: '10.0.0.0/8', result: 'skipped', reason: 'no-resolve' },
      { index: 2, type: 'DOMAIN-SUFFIX', payload: 'example.com', result: 'match' },
    ],
    evaluated: 3,
    elapsedUs: 12.6,
  };

  it('shows what the kernel decides', async () => {
    api.kernel.decision = decision;
    const answer = await api.call('POST', '/rules/test', { url: 'https://Example.com:8443/a' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      url: 'https://Example.com:8443/a',
      scheme: 'https',
      host: 'example.com',
      port: 8443,
      network: 'tcp',
      ip: ['198.51.100.1'],
      resolved: true,
      matched: true,
      rule: {
        index: 2,
        id: 4,
        source: 'manual',
        type: 'DOMAIN-SUFFIX',
        payload: 'example.com',
        target: 'PROXY',
        raw: 'DOMAIN-SUFFIX,example.com,PROXY',
      },
      target: 'PROXY',
      chain: ['PROXY', 'Tokyo'],
      node: { id: 1, name: 'Tokyo', type: 'ss', country: 'JP', alive: null },
      outbound_type: 'ss',
      refusal: null,
      would_use_udp: false,
      trace: [
        { index: 0, type: 'IP-CIDR', payload: '10.0.0.0/8', result: 'skipped', reason: 'no-resolve' },
        { index: 2, type: 'DOMAIN-SUFFIX', payload: 'example.com', result: 'match', reason: null },
      ],
      evaluated: 3,
      elapsed_us: 13,
    });
    expect(api.kernel.asked.at(-1)).toMatchObject({
      host: 'example.com',
      destinationIp: null,
      destinationPort: 8443,
      network: 'tcp',
    });
  });

  it('tests an address as an address', async () => {
    api.kernel.decision = {
      ...decision,
      rule: null,
      chain: ['DIRECT'],
      outbound: 'DIRECT',
      target: 'DIRECT',
      resolvedIps: [],
    };
    const answer = await api.call('POST', '/rules/test', { url: '[2001:db8::1]:53' });
    expect(answer.body).toMatchObject({
      ip: ['2001:db8::1'],
      resolved: false,
      matched: false,
      rule: null,
      node: null,
      outbound_type: 'direct',
    });
    expect(api.kernel.asked.at(-1)).toMatchObject({ host: null, destinationIp: '2001:db8::1', destinationPort: 53 });
  });

  it.each([[{}], [{ url: '' }], [{ url: 'http://' }], [{ url: 'a b' }], [{ url: 5 }], [{ url: 'a.example', port: 1 }]])(
    'answers 400 to %j',
    async (body) => {
      const answer = await api.call('POST', '/rules/test', body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } });
    },
  );

  it('tests like a client of the named listener', async () => {
    const listener = { address: '127.0.0.1', state: 'listening', error: null } as const;
    api.kernel.listeners = [
      { ...listener, name: 'mixed', type: 'mixed', port: 7890 },
      { ...listener, name: 'socks', type: 'socks', port: 1080 },
      { ...listener, name: 'dns', type: 'dns', port: 53 },
    ];
    const asked = async (body: object) => {
      const answer = await api.call('POST', '/rules/test', body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const { network, would_use_udp } = answer.body;
      return { ...api.kernel.asked.at(-1), answer: { network, would_use_udp } };
    };
    expect(await asked({ url: 'http://a.example' })).toMatchObject({
      type: 'HTTP',
      inboundName: 'mixed',
      inboundPort: 7890,
      sourceIp: '127.0.0.1',
      network: 'tcp',
      answer: { network: 'tcp', would_use_udp: false },
    });
    expect(await asked({ url: 'a.example', source_ip: '2001:db8::5' })).toMatchObject({
      type: 'HTTPS',
      sourceIp: '2001:db8::5',
    });
    expect(await asked({ url: 'a.example:53', network: 'udp', inbound: 'socks' })).toMatchObject({
      type: 'Socks5',
      inboundName: 'socks',
      inboundPort: 1080,
      network: 'udp',
      destinationPort: 53,
      answer: { network: 'udp', would_use_udp: true },
    });
    for (const [field, value] of [
      ['network', 'icmp'],
      ['network', null],
      ['source_ip', 'here'],
      ['inbound', 'dns'],
      ['inbound', ''],
      ['inbound', 'constructor'],
    ] as const) {
      const { status, body } = await api.call('POST', '/rules/test', { url: 'a.example', [field]: value });
      expect([status, body.code, body.details[0].field], `${field} ${value}`).toEqual([400, 'INVALID_ARGUMENT', field]);
    }
    api.kernel.listeners = [];
  });

  it('answers 503 while the kernel is down', async () => {
    api.kernel.down = true;
    const answer = await api.call('POST', '/rules/test', { url: 'a.example' });
    expect(answer).toMatchObject({ status: 503, body: { code: 'KERNEL_UNAVAILABLE' } });
    api.kernel.down = false;
  });
});

describe('GET /rules without a limit', () => {
  it('writes all of them once for concurrent requests', async () => {
    await api.dataSource.query(
      `INSERT INTO rules (source, type, payload, target, priority)
       SELECT 'manual', 'DOMAIN', 'h' || n || '.example', 'DIRECT', n / 3 FROM generate_series(1, 3500) AS n`,
    );
    const paged: object[] = [];
    for (let offset = 0; offset < 3_500; offset += 500)
      paged.push(...(await list(`?limit=500&offset=${offset}`)).items);
    const transactions = vi.spyOn(api.dataSource, 'transaction');
    try {
      const answers = await Promise.all(Array.from({ length: 12 }, () => list()));
      expect(transactions.mock.calls.length).toBeLessThan(6);
      for (const answer of answers) expect(answer).toEqual({ items: paged, total: 3_500 });
    } finally {
      transactions.mockRestore();
    }
    expect(await list('?source=manual&offset=3490')).toEqual({ items: paged.slice(3_490), total: 3_500 });
    expect(await list('?source=ruleset')).toEqual({ items: [], total: 0 });
  });
});
