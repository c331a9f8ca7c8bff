import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { howItEnds, readAll, TunnelRig } from '../../test/tunnel-rig.js';
import type { DeniedVisitors } from '../access/refusal-sampler.js';
import type { ClientConfig, IpRuleConfig, TunnelConfig, TunnelServerConfig } from '../config.js';
import { proxyHeader } from '../wire/proxy-header.js';

const KIB = 1024;

let rig: TunnelRig;
let denied: DeniedVisitors[];
let expired: number[];
let echo: number;
beforeEach(async () => {
  // Each test's own: what a server says while it is stopped is not the next test's.
  const [ownDenied, ownExpired]: [DeniedVisitors[], number[]] = [[], []];
  const own: TunnelRig = new TunnelRig({
    trustedProxies: ['127.0.0.0/8'],
    timeouts: { proxyHeader: 300 },
    events: {
      flowClosed: (record) => own.records.push(record),
      denied: (visitors) => ownDenied.push(visitors),
      expired: (id) => ownExpired.push(id),
    },
  });
  [rig, denied, expired] = [own, ownDenied, ownExpired];
  await rig.listen();
  rig.agent(rig.client().key);
  await rig.online(1);
  echo = await rig.echo();
});
afterEach(() => rig.close());

interface Change {
  client?: Partial<ClientConfig>;
  tunnel?: Partial<TunnelConfig>;
  more?: Partial<TunnelServerConfig>;
}

/** The port of the tunnel, which stays the same between changes; 0 when it has none. */
async function apply({ client, tunnel, more }: Change = {}): Promise<number> {
  const tunnels = [rig.tunnelConfig(1, [echo], tunnel)];
  const config = rig.config({ tunnels, ...more });
  const clients = config.clients.map((own) => ({ ...own, ...client }));
  const [state] = await rig.server.apply({ ...config, clients });
  return state?.port ?? 0;
}

/** A visitor whose bytes came back. */
async function inside(port: number): Promise<Socket> {
  const visitor = await rig.visit(port);
  visitor.write('x');
  await once(visitor, 'data');
  return visitor;
}

async function refused(port: number): Promise<string> {
  return howItEnds(rig.visitor(port));
}

const loopback = { type: 'deny', kind: 'cidr', pattern: '127.0.0.0/8', priority: 1 } as const;
function rule(scope: IpRuleConfig['scope'], resourceId: number, more: Partial<IpRuleConfig> = {}): IpRuleConfig {
  return { id: 1, scope, resourceId, ...loopback, ...more };
}

describe('connected visitors', () => {
  it.each<[string, Change]>([
    ['the client is disabled', { client: { enabled: false } }],
    ['the client expired', { client: { expiresAt: 1 } }],
    ['the client is gone', { more: { clients: [], tunnels: [] } }],
    ['the tunnel is gone', { more: { tunnels: [] } }],
    ['the tunnel is another client’s', { tunnel: { clientId: 2 } }],
    ['a rule of all denies them', { more: { ipRules: [rule('global', 0)] } }],
    ['a rule of the user denies them', { more: { ipRules: [rule('user', 1)] } }],
    ['a rule of the client denies them', { more: { ipRules: [rule('client', 1)] } }],
    ['a rule of the tunnel denies them', { more: { ipRules: [rule('tunnel', 7)] } }],
    ['only others are allowed', { more: { ipRules: [rule('tunnel', 7, { type: 'allow', pattern: '10.0.0.0/8' })] } }],
  ])('are reset at once when %s', async (_, change) => {
    const port = await apply();
    const visitor = await inside(port);
    const ended = howItEnds(visitor);
    await apply(change);
    expect(await ended).toBe('ECONNRESET');
    await waitFor(() => rig.server.flows === 0);
    expect(rig.records).toMatchObject([{ upload: 1, download: 1, reason: 'stopped' }]);
  });

  it.each<[string, Change]>([
    ['nothing changed', {}],
    ['fewer connections are allowed than there are', { client: { maxConnections: 1 } }],
    ['rules of others change', { more: { ipRules: [rule('tunnel', 8), rule('host', 7), rule('console', 0)] } }],
    ['they are allowed', { more: { ipRules: [rule('tunnel', 7, { type: 'allow' })] } }],
    ['there is a limit', { client: { rateLimit: 1_000_000 } }],
  ])('stay when %s', async (_, change) => {
    const port = await apply();
    const visitors = [await inside(port), await inside(port)];
    expect(await apply(change)).toBe(port);
    for (const visitor of visitors) {
      visitor.write('y');
      expect(String((await once(visitor, 'data'))[0])).toBe('y');
    }
  });

  it('are reset when the client expires, together with its agent and its port', async () => {
    const expiresAt = Date.now() + 400;
    const port = await apply({ client: { expiresAt } });
    const visitor = await inside(port);
    expect(await howItEnds(visitor)).toBe('ECONNRESET');
    expect(Date.now() - expiresAt).toBeGreaterThanOrEqual(0);
    expect(expired).toEqual([1]);
    await waitFor(() => rig.server.agents().length === 0 && rig.server.tunnels().length === 0);
    expect(await refused(port)).toBe('ECONNREFUSED');
  });

  it('stay if the expiry is months away or was postponed', async () => {
    const port = await apply({ client: { expiresAt: Date.now() + 300 } });
    const visitor = await inside(port);
    expect(await apply({ client: { expiresAt: Date.now() + 90 * 86_400_000 } })).toBe(port);
    await new Promise((resolve) => setTimeout(resolve, 400));
    visitor.write('y');
    await once(visitor, 'data');
    expect(expired).toEqual([]);
  });

  it('are reset even if they have sent no byte yet', async () => {
    rig.clients.clear();
    const waiting = new TunnelRig({ verifier: neverAnswers });
    await waiting.listen();
    waiting.client();
    const port = await waiting.tunnel(1, [echo]);
    const visitor = await waiting.visit(port);
    const ended = howItEnds(visitor);
    await waitFor(() => asked === 1);
    await waiting.server.apply(waiting.config({ tunnels: [] }));
    expect(await ended).toBe('ECONNRESET');
    await waiting.close();
  });
});

let asked = 0;
const neverAnswers = {
  guards: () => true,
  allows: () => {
    asked += 1;
    return new Promise<boolean>(() => undefined);
  },
  verify: () => ({ allowed: true, dropHeaders: [], requestHeaders: [], responseHeaders: [] }) as const,
  checkPassword: () => false,
};

describe('a disabled client', () => {
  it('has no ports until it is enabled again', async () => {
    const port = await apply();
    const listen = { host: '127.0.0.1', port };
    expect(await apply({ client: { enabled: false }, tunnel: { listen } })).toBe(0);
    expect(await refused(port)).toBe('ECONNREFUSED');
    await waitFor(() => rig.server.agents().length === 0);
    expect(await apply({ tunnel: { listen } })).toBe(port);
  });

  it('can already be connected although it is not yet in the configuration', async () => {
    await apply({ more: { clients: [], tunnels: [] } });
    await rig.server.apply(rig.config({ clients: [], tunnels: [] }));
    rig.agent(rig.client().key);
    await rig.online(2);
    await rig.server.apply(rig.config({ clients: [], tunnels: [] }));
    expect(rig.server.agents().map(({ clientId }) => clientId)).toContain(2);
  });
});

describe('new visitors', () => {
  it('are reset if a rule denies them, and reported', async () => {
    const port = await apply({ more: { ipRules: [rule('user', 1)] } });
    for (let i = 0; i < 5; i++) expect(await refused(port)).toBe('ECONNRESET');
    expect(denied).toEqual([
      {
        resource: { kind: 'tunnel', id: 7 },
        clientId: 1,
        reason: 'address_denied',
        address: '127.0.0.1',
        rule: { scope: 'user', resourceId: 1, ruleId: 1 },
        count: 1,
      },
    ]);
    expect(rig.server.takeVisitors()).toEqual([]);
  });

  it('are counted by address', async () => {
    const port = await apply();
    for (let i = 0; i < 3; i++) await inside(port);
    const resource = { kind: 'tunnel', id: 7 };
    expect(rig.server.takeVisitors()).toEqual([{ resource, clientId: 1, address: '127.0.0.1', hits: 3 }]);
    expect(rig.server.takeVisitors()).toEqual([]);
  });

  it('are reset above the connection limit, until another connection has ended', async () => {
    const port = await apply({ client: { maxConnections: 2 } });
    const visitors = [await inside(port), await inside(port)];
    expect(await refused(port)).toBe('ECONNRESET');
    expect(denied).toMatchObject([{ reason: 'too_many_connections', rule: null }]);
    visitors[0]?.resetAndDestroy();
    visitors[1]?.end();
    await waitFor(() => rig.server.flows === 0);
    await inside(port);
    // Targets that cannot be reached leak none either.
    const nowhere = await apply({
      client: { maxConnections: 2 },
      tunnel: { id: 8, targets: [{ host: '127.0.0.1', port: 1, weight: 1 }] },
    });
    await waitFor(() => rig.server.flows === 0);
    for (let i = 0; i < 6; i++) expect(await refused(nowhere)).toBe('ECONNRESET');
    await waitFor(() => rig.server.flows === 0);
    const again = await apply({ client: { maxConnections: 2 }, tunnel: { id: 9 } });
    await inside(again);
    await inside(again);
    expect(await refused(again)).toBe('ECONNRESET');
  });

  it('see no change when a configuration is refused because of a rule', async () => {
    const port = await apply();
    const broken = rule('global', 0, { pattern: '10.1.2.3/8' });
    await expect(apply({ client: { enabled: false }, more: { ipRules: [broken] } })).rejects.toThrow(
      'rule 1: "10.1.2.3/8"',
    );
    await inside(port);
  });
});

describe('visitors behind a proxy', () => {
  const visitor = { address: '192.0.2.7', port: 4711 };
  const entrance = { address: '198.51.100.1', port: 443 };
  const accepting = { acceptProxyProtocol: true } as const;

  async function through(port: number, header: Buffer | string): Promise<Socket> {
    const socket = await rig.visit(port);
    socket.write(header);
    return socket;
  }

  it.each([1, 2] as const)(
    'have the address of the header in version %d for rules, counters and targets',
    async (version) => {
      const seen = rig.target((socket) => socket.pipe(socket));
      const port = await apply({
        tunnel: { ...accepting, proxyProtocol: 1, targets: [{ host: '127.0.0.1', port: await seen, weight: 1 }] },
      });
      const socket = await through(
        port,
        Buffer.concat([proxyHeader(version, visitor, entrance), Buffer.from('hello')]),
      );
      socket.end();
      expect(String(await readAll(socket))).toBe('PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\nhello');
      await waitFor(() => rig.records.length === 1);
      expect(rig.records[0]).toMatchObject({ visitor, upload: 5 });
      expect(rig.server.takeVisitors()).toMatchObject([{ address: '192.0.2.7', hits: 1 }]);
      await apply({ tunnel: accepting, more: { ipRules: [rule('tunnel', 7, { pattern: '192.0.2.0/24' })] } });
      expect(await howItEnds(await through(port, proxyHeader(version, visitor, entrance)))).toBe('ECONNRESET');
      expect(denied).toMatchObject([{ reason: 'address_denied', address: '192.0.2.7' }]);
    },
  );

  it('have the proxy’s own address for its own connections', async () => {
    const port = await apply({ tunnel: accepting });
    const socket = await through(
      port,
      Buffer.concat([proxyHeader(2, { address: '', port: 0 }, entrance), Buffer.from('health')]),
    );
    expect(String((await once(socket, 'data'))[0])).toBe('health');
    expect(rig.server.takeVisitors()).toMatchObject([{ address: '127.0.0.1' }]);
  });

  it('are reset if the header is invalid or late', async () => {
    const port = await apply({ tunnel: accepting, client: { maxConnections: 1 } });
    expect(await howItEnds(await through(port, 'GET / HTTP/1.1\r\n\r\n'))).toBe('ECONNRESET');
    expect(await howItEnds(await through(port, 'PROXY TCP4 1.2'))).toBe('ECONNRESET');
    expect(denied).toMatchObject([{ reason: 'bad_proxy_header', address: '127.0.0.1' }]);
    const socket = await through(port, proxyHeader(1, visitor, entrance));
    socket.write('x');
    await once(socket, 'data');
  });

  it('keep the proxy’s address if nobody trusts the proxy', async () => {
    const strict = new TunnelRig({
      trustedProxies: ['10.0.0.0/8', '2001:db8::1'],
      events: { denied: (visitors) => denied.push(visitors) },
    });
    await strict.listen();
    strict.agent(strict.client().key);
    await strict.online(1);
    const port = await strict.tunnel(1, [echo], accepting);
    const socket = strict.visitor(port);
    socket.write(Buffer.concat([proxyHeader(1, visitor, entrance), Buffer.from('x')]));
    expect(await howItEnds(socket)).toBe('ECONNRESET');
    expect(denied).toMatchObject([{ reason: 'untrusted_proxy', address: '127.0.0.1' }]);
    expect(strict.server.takeVisitors()).toEqual([]);
    await strict.close();
    expect(() => new TunnelRig({ trustedProxies: ['example.com'] })).toThrow('trusted proxies: "example.com"');
  });
});

describe('the rate limit of a client', () => {
  /** Bytes per second through the echo, both directions together, after the burst is used up. */
  async function measure(port: number, burst: number, seconds: number, connections: number): Promise<number[]> {
    const block = Buffer.alloc(64 * KIB);
    const counts = Array.from({ length: connections }, () => 0);
    const total = (): number => counts.reduce((sum, count) => sum + count, 0) * 2;
    for (const index of counts.keys()) {
      const visitor = await rig.visit(port);
      visitor.on('data', (part: Buffer) => (counts[index] = (counts[index] ?? 0) + part.length));
      const write = (): void => {
        while (visitor.write(block));
      };
      visitor.on('drain', write);
      write();
    }
    await waitFor(() => total() > burst, { timeoutMs: 10_000 });
    const [before, started] = [[...counts], performance.now()];
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const elapsed = (performance.now() - started) / 1000;
    return counts.map((count, index) => ((count - (before[index] ?? 0)) * 2) / elapsed);
  }

  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

  it('is shared by all connections and both directions', async () => {
    const rateLimit = 4000 * KIB;
    const port = await apply({ client: { rateLimit } });
    const rates = await measure(port, rateLimit * 1.5, 4, 4);
    expect(sum(rates) / rateLimit).toBeLessThan(1.05);
    // How near a busy machine comes to it is for the benchmark to say.
    expect(sum(rates) / rateLimit).toBeGreaterThan(0.3);
    expect(Math.min(...rates) / Math.max(...rates)).toBeGreaterThan(0.5);
    expect(rig.server.flows).toBe(4);
  });

  it('applies to open connections, and follows changes', async () => {
    const port = await apply();
    const visitor = await rig.visit(port);
    let received = 0;
    visitor.on('data', (part: Buffer) => (received += part.length));
    const block = Buffer.alloc(64 * KIB);
    const write = (): void => {
      while (visitor.write(block));
    };
    visitor.on('drain', write);
    write();
    const rateOver = async (ms: number): Promise<number> => {
      const [before, started] = [received, performance.now()];
      await new Promise((resolve) => setTimeout(resolve, ms));
      return ((received - before) * 2000) / (performance.now() - started);
    };
    // The limit is a most; how near a busy machine comes to it is for the benchmark to say.
    await waitFor(async () => (await rateOver(500)) > 4000 * KIB);
    await apply({ client: { rateLimit: 500 * KIB } });
    await rateOver(2000);
    expect(await rateOver(1500)).toBeLessThan(600 * KIB);
    await apply({ client: { rateLimit: 3000 * KIB } });
    await rateOver(300);
    const faster = await rateOver(1500);
    expect(faster).toBeGreaterThan(900 * KIB);
    expect(faster).toBeLessThan(3500 * KIB);
    await apply();
    await rateOver(200);
    await waitFor(async () => (await rateOver(500)) > 4000 * KIB);
  });

  it.each([
    ['plain', 1],
    ['TLS', 2],
  ])('loses nothing and keeps the end after it, over %s data channels', async (_, clientId) => {
    rig.agent(rig.client(true).key);
    await rig.online(2);
    const port = await apply({ client: { rateLimit: 300 * KIB }, tunnel: { clientId } });
    const visitor = await rig.visit(port);
    const sent = Buffer.from(Array.from({ length: 300 * KIB }, (__, index) => (index * 7919) >> 3));
    visitor.end(sent);
    expect((await readAll(visitor)).equals(sent)).toBe(true);
    await waitFor(() => rig.records.length === 1);
    expect(rig.records[0]).toMatchObject({ upload: sent.length, download: sent.length, reason: 'client_closed' });
  });
});
