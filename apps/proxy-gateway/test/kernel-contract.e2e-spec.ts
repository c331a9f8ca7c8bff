import { Resolver } from 'node:dns/promises';
import { createProxyKernel, createSystemResolver, KernelConfigError } from '@gatehouse/proxy-kernel';
import type {
  ConnectionMetadata,
  ConnectionRecord,
  KernelConfig,
  KernelEnvironment,
  ProxyKernel,
} from '@gatehouse/proxy-kernel';
import { findPeer, startHttpOrigin, startTcpEcho, waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { MihomoKernel } from '../src/kernel/mihomo/mihomo-kernel.js';
import { MihomoProgram } from '../src/kernel/mihomo/mihomo-program.js';
import { startNameServer } from './support/name-server.js';
import {
  datagramsThrough,
  echo,
  getThrough,
  socksTunnel,
  startUdpEcho,
  tunnelThrough,
} from './support/proxy-client.js';
import { closedPort } from './support/test-nodes.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';

const environment: KernelEnvironment = {
  now: () => Date.now(),
  logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  resolver: createSystemResolver(),
  country: (address) => (address.startsWith('127.0.0.') ? 'ZZ' : null),
  asn: (address) => (address === '127.0.0.1' ? 64_500 : null),
};
/** The same for a kernel that takes prefixes. */
const prefixes = {
  country: (code: string) => (code === 'ZZ' ? ['127.0.0.0/24'] : []),
  asn: (number: number) => (number === 64_500 ? ['127.0.0.1/32'] : []),
};

const kinds: { name: string; missing: string | null; start: () => Promise<ProxyKernel> }[] = [
  { name: 'the embedded kernel', missing: null, start: () => Promise.resolve(createProxyKernel(environment)) },
  {
    name: 'mihomo',
    missing: findPeer('mihomo') ? null : 'mihomo is not installed: npm run peers -- --go',
    start: async () => {
      const program = new MihomoProgram({
        executable: findPeer('mihomo')!,
        onExit: () => undefined,
      });
      const { version } = await program.start();
      return new MihomoKernel(program, { ...environment, prefixes }, version);
    },
  },
];

const base: KernelConfig = {
  mode: 'rule',
  listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 }],
  outbounds: [],
  groups: [{ name: 'PROXY', type: 'select', members: ['DIRECT', 'REJECT'] }],
  rules: [],
  defaultPolicy: 'DIRECT',
};

function flowTo(host: string): ConnectionMetadata {
  return {
    network: 'tcp',
    type: 'HTTP',
    sourceIp: '127.0.0.1',
    sourcePort: 1,
    inboundName: 'mixed',
    inboundUser: null,
    host,
    destinationIp: null,
    destinationPort: 80,
  };
}

/** What the service relies on, with either kernel. */
describe.each(kinds)('a kernel that is $name', ({ missing, start }) => {
  it('carries traffic by its rules and reports which one matched', async (context) => {
    if (missing !== null) context.skip(missing);
    const kernel = await start();
    try {
      await using origin = await startHttpOrigin();
      await using upstream = await startUpstreamProxy();
      const node = { type: 'http', name: 'a label', server: '127.0.0.1', port: upstream.port } as const;
      const rules: KernelConfig['rules'] = [
        { id: 7, source: 'manual', type: 'DST-PORT', payload: String(origin.port), target: 'PROXY' },
        { id: 8, source: 'manual', type: 'DOMAIN', payload: 'nowhere.example', target: 'no such target' },
      ];
      const groups: KernelConfig['groups'] = [
        { name: 'PROXY', type: 'select', members: ['n1', 'DIRECT'], selected: 'n1' },
      ];
      const applied = await kernel.apply({ ...base, outbounds: [{ tag: 'n1', node }], groups, rules });
      expect(applied).toMatchObject({ generation: 1, droppedConnections: 0 });
      const port = applied.listeners[0]!.port;
      expect((await getThrough(port, `${origin.url}/echo`)).status).toBe(200);
      expect(upstream.targets).toEqual([`127.0.0.1:${origin.port}`]);
      expect(kernel.groups()).toEqual([
        { name: 'PROXY', type: 'select', members: ['n1', 'DIRECT'], now: 'n1', fixed: true },
      ]);
      const decision = await kernel.testRoute({ ...flowTo('nowhere.example'), destinationPort: origin.port });
      expect(decision).toMatchObject({ rule: { id: 7, index: 0 }, chain: ['PROXY', 'n1'], outbound: 'n1' });
    } finally {
      await kernel.close();
    }
  });

  it('switches a group for new connections and leaves the open ones alone', async (context) => {
    if (missing !== null) context.skip(missing);
    const kernel = await start();
    try {
      await using target = await startTcpEcho();
      await using upstream = await startUpstreamProxy();
      const node = { type: 'http', name: 'a label', server: '127.0.0.1', port: upstream.port } as const;
      const groups: KernelConfig['groups'] = [{ name: 'PROXY', type: 'select', members: ['n1', 'DIRECT'] }];
      const config: KernelConfig = { ...base, outbounds: [{ tag: 'n1', node }], groups, defaultPolicy: 'PROXY' };
      const { listeners } = await kernel.apply(config);
      const before = await tunnelThrough(listeners[0]!.port, '127.0.0.1', target.port);
      expect(await echo(before, 'one')).toBe('one');
      kernel.select('PROXY', 'DIRECT');
      await waitFor(() => kernel.groups()[0]!.now === 'DIRECT');
      const after = await tunnelThrough(listeners[0]!.port, '127.0.0.1', target.port);
      expect(await echo(after, 'two')).toBe('two');
      expect(upstream.targets).toHaveLength(1);
      expect(await echo(before, 'three')).toBe('three');
      for (const socket of [before, after]) socket.destroy();
      expect(() => kernel.select('PROXY', 'n9')).toThrow(KernelConfigError);
    } finally {
      await kernel.close();
    }
  });

  it('answers questions for names with addresses that lead to the rules for the names', async (context) => {
    if (missing !== null) context.skip(missing);
    const kernel = await start();
    try {
      await using names = await startNameServer({ '+.test': ['127.0.0.1'] });
      await using target = await startTcpEcho();
      const dns: KernelConfig['dns'] = {
        nameservers: [names.address],
        hosts: { 'set.test': ['127.0.0.9'] },
        fakeIp: { range: '198.18.0.0/16', filter: ['+.real.test'] },
        listen: { address: '127.0.0.1', port: 0 },
      };
      const rules: KernelConfig['rules'] = [
        { id: 3, source: 'manual', type: 'DOMAIN', payload: 'shop.test', target: 'DIRECT' },
      ];
      const { listeners } = await kernel.apply({ ...base, rules, dns, sniffing: false, defaultPolicy: 'REJECT' });
      const [mixed, listener] = listeners;
      expect(listener).toMatchObject({ name: 'dns', type: 'dns', state: 'listening' });
      const client = new Resolver({ timeout: 2000, tries: 3 });
      client.setServers([`127.0.0.1:${listener!.port}`]);
      const [address = ''] = await client.resolve4('shop.test');
      expect(address).toMatch(/^198\.18\./);
      expect(await client.resolve4('a.real.test')).toEqual(['127.0.0.1']);
      expect(await client.resolve4('set.test')).toEqual(['127.0.0.9']);
      const socket = await socksTunnel(mixed!.port, address, target.port);
      expect(await echo(socket, 'hello')).toBe('hello');
      await waitFor(() => kernel.connections().length === 1);
      expect(kernel.connections()).toMatchObject([{ host: 'shop.test', fakeIp: true, rule: { id: 3 } }]);
      socket.destroy();
    } finally {
      await kernel.close();
    }
  });

  it('shows open connections, closes the one that is named, and records it with its bytes', async (context) => {
    if (missing !== null) context.skip(missing);
    const kernel = await start();
    const closed: ConnectionRecord[] = [];
    const moved = { upload: 0, download: 0 };
    kernel.on('closed', (record) => closed.push(record));
    kernel.on('traffic', (delta) => {
      moved.upload += delta.upload;
      moved.download += delta.download;
    });
    try {
      await using target = await startTcpEcho();
      const rules: KernelConfig['rules'] = [
        { id: 9, source: 'manual', type: 'DST-PORT', payload: String(target.port), target: 'DIRECT' },
      ];
      const { listeners } = await kernel.apply({ ...base, rules });
      const socket = await tunnelThrough(listeners[0]!.port, '127.0.0.1', target.port);
      expect(await echo(socket, '0123456789')).toBe('0123456789');
      const [open] = await waitFor(() => (kernel.connections().length > 0 ? kernel.connections() : undefined));
      expect(open).toMatchObject({
        network: 'tcp',
        inboundName: 'mixed',
        destinationPort: target.port,
        rule: { id: 9 },
        chain: ['DIRECT'],
        nodeTag: null,
      });
      const ended = new Promise((resolve) => socket.once('close', resolve));
      expect(kernel.closeConnection(open!.id)).toBe(true);
      expect(kernel.closeConnection('no such id')).toBe(false);
      await ended;
      const record = await waitFor(() => closed[0]);
      expect(record).toMatchObject({ id: open!.id, upload: 10, download: 10, closeReason: 'user', status: 'ok' });
      await waitFor(() => moved.upload === 10 && moved.download === 10);
    } finally {
      await kernel.close();
    }
  });

  it('carries an open connection over a new configuration and drops none', async (context) => {
    if (missing !== null) context.skip(missing);
    const kernel = await start();
    try {
      await using target = await startTcpEcho();
      const { listeners } = await kernel.apply(base);
      const socket = await tunnelThrough(listeners[0]!.port, '127.0.0.1', target.port);
      expect(await echo(socket, 'before')).toBe('before');
      const rules: KernelConfig['rules'] = [{ id: 1, source: 'manual', type: 'MATCH', payload: '', target: 'REJECT' }];
      const second = await kernel.apply({ ...base, rules });
      expect(second).toMatchObject({ generation: 2, previousGeneration: 1, changed: { rules: 1 } });
      expect(await echo(socket, 'after')).toBe('after');
      await expect(getThrough(listeners[0]!.port, 'http://127.0.0.1:9/')).resolves.not.toMatchObject({ status: 200 });
      socket.destroy();
    } finally {
      await kernel.close();
    }
  });

  it.for(['rule', 'global'] as const)(
    'refuses UDP in the mode %s where the node carries none, instead of sending it out directly',
    async (mode, context) => {
      if (missing !== null) context.skip(missing);
      const kernel = await start();
      try {
        await using target = await startUdpEcho();
        await using open = await startUdpEcho();
        await using tcp = await startTcpEcho();
        await using upstream = await startUpstreamProxy();
        const node = { type: 'http', name: 'a label', server: '127.0.0.1', port: upstream.port } as const;
        const groups: KernelConfig['groups'] = [{ name: 'PROXY', type: 'select', members: ['n1', 'DIRECT'] }];
        const rules: KernelConfig['rules'] = [
          { id: 1, source: 'manual', type: 'DST-PORT', payload: String(open.port), target: 'DIRECT' },
        ];
        const way = { outbounds: [{ tag: 'n1', node }], groups, defaultPolicy: 'PROXY' };
        const { listeners } = await kernel.apply({ ...base, mode, rules, ...way });
        const datagrams = await datagramsThrough(listeners[0]!.port);
        datagrams.send('127.0.0.1', target.port, 'to a node without UDP');
        // A whole connection through the node takes longer than a direct datagram.
        const socket = await tunnelThrough(listeners[0]!.port, '127.0.0.1', tcp.port);
        expect(await echo(socket, 'through the node')).toBe('through the node');
        expect(upstream.targets).toHaveLength(1);
        if (mode === 'rule') {
          datagrams.send('127.0.0.1', open.port, 'directly');
          await waitFor(() => open.received.length > 0);
        }
        expect(target.received).toEqual([]);
        socket.destroy();
        datagrams.close();
      } finally {
        await kernel.close();
      }
    },
  );

  it.for(['rule', 'global', 'direct'] as const)(
    'keeps away from the services of the platform in the mode %s, however they are written',
    async (mode, context) => {
      if (missing !== null) context.skip(missing);
      const kernel = await start();
      try {
        await using own = await startTcpEcho({ host: '::' });
        await using other = await startTcpEcho();
        const guard = { own: [{ host: '*', port: own.port }], refusePrivate: false };
        const rules: KernelConfig['rules'] = [
          { id: 1, source: 'manual', type: 'IP-CIDR', payload: '127.0.0.0/8', target: 'DIRECT' },
        ];
        const { listeners } = await kernel.apply({ ...base, mode, guard, rules });
        const { port } = listeners[0]!;
        for (const host of ['127.0.0.1', '127.0.0.2', '0.0.0.0', 'localhost', '[::1]', '[::]', '[::ffff:127.0.0.1]']) {
          expect((await getThrough(port, `http://${host}:${own.port}/`)).status, host).toBeGreaterThanOrEqual(400);
        }
        expect(own.accepted()).toBe(0);
        const socket = await tunnelThrough(port, '127.0.0.1', other.port);
        expect(await echo(socket, 'another port')).toBe('another port');
        socket.destroy();
      } finally {
        await kernel.close();
      }
    },
  );

  it.for([
    { type: 'GEOIP', payload: 'ZZ' },
    { type: 'IP-ASN', payload: '64500' },
    { type: 'AND', payload: '((GEOIP,zz),(NOT,((IP-ASN,1))))' },
  ] as const)('routes by countries and autonomous systems without any file of its own: %j', async (rule, context) => {
    if (missing !== null) context.skip(missing);
    const kernel = await start();
    try {
      await using target = await startTcpEcho();
      const rules: KernelConfig['rules'] = [
        { id: 1, source: 'manual', type: 'GEOIP', payload: 'AA', target: 'REJECT' },
        { id: 2, source: 'manual', ...rule, target: 'DIRECT' },
      ];
      const { listeners } = await kernel.apply({ ...base, rules, defaultPolicy: 'REJECT' });
      const socket = await tunnelThrough(listeners[0]!.port, '127.0.0.1', target.port);
      expect(await echo(socket, 'hello')).toBe('hello');
      await waitFor(() => kernel.connections().length === 1);
      expect(kernel.connections()).toMatchObject([{ rule: { id: 2, index: 1, ...rule } }]);
      socket.destroy();
    } finally {
      await kernel.close();
    }
  });

  it('records flows that a rule rejected, and counts them for the rule', async (context) => {
    if (missing !== null) context.skip(missing);
    const kernel = await start();
    const closed: ConnectionRecord[] = [];
    const hits = new Map<string, number>();
    kernel.on('closed', (record) => closed.push(record));
    kernel.on('traffic', ({ rules }) => {
      for (const [id, { hits: more }] of Object.entries(rules)) hits.set(id, (hits.get(id) ?? 0) + more);
    });
    try {
      const rules: KernelConfig['rules'] = [
        { id: 5, source: 'manual', type: 'DOMAIN-SUFFIX', payload: 'rejected.example', target: 'REJECT' },
      ];
      const { listeners } = await kernel.apply({ ...base, rules });
      for (const name of ['a', 'b', 'c']) await getThrough(listeners[0]!.port, `http://${name}.rejected.example/`);
      await waitFor(() => closed.length === 3 && hits.get('5') === 3);
      expect(new Set(closed.map(({ host }) => host))).toEqual(
        new Set(['a', 'b', 'c'].map((name) => `${name}.rejected.example`)),
      );
      const expected = { network: 'tcp', sourceIp: '127.0.0.1', destinationPort: 80, status: 'rejected' };
      for (const record of closed) {
        expect(record).toMatchObject({ ...expected, closeReason: 'rejected', chain: ['REJECT'], rule: { id: 5 } });
      }
      expect(kernel.status()).toMatchObject({ openedTotal: 3, rejectedTotal: 3, failedTotal: 0 });
    } finally {
      await kernel.close();
    }
  });

  it('records flows that failed, with the reason, and flows that ended at once', async (context) => {
    if (missing !== null) context.skip(missing);
    const kernel = await start();
    const closed: ConnectionRecord[] = [];
    kernel.on('closed', (record) => closed.push(record));
    try {
      await using origin = await startHttpOrigin();
      const node = { type: 'http', name: 'a label', server: '127.0.0.1', port: await closedPort() } as const;
      const groups: KernelConfig['groups'] = [{ name: 'PROXY', type: 'select', members: ['n1', 'DIRECT'] }];
      const rules: KernelConfig['rules'] = [
        { id: 6, source: 'manual', type: 'DST-PORT', payload: String(origin.port), target: 'DIRECT' },
        { id: 7, source: 'manual', type: 'DOMAIN', payload: 'far.example', target: 'PROXY' },
      ];
      const { listeners } = await kernel.apply({ ...base, outbounds: [{ tag: 'n1', node }], groups, rules });
      await getThrough(listeners[0]!.port, `${origin.url}/echo`);
      await getThrough(listeners[0]!.port, 'http://far.example/').catch(() => undefined);
      await waitFor(() => closed.length === 2);
      const [direct, failed] = [6, 7].map((id) => closed.find(({ rule }) => rule?.id === id));
      expect(direct).toMatchObject({ status: 'ok', destinationPort: origin.port, chain: ['DIRECT'] });
      expect(failed).toMatchObject({ status: 'failed', host: 'far.example', errorKind: 'connection_refused' });
      expect(kernel.status()).toMatchObject({ openedTotal: 2, failedTotal: 1 });
    } finally {
      await kernel.close();
    }
  });

  it('refuses an invalid configuration with the reason, and continues as before', async (context) => {
    if (missing !== null) context.skip(missing);
    const kernel = await start();
    try {
      await using origin = await startHttpOrigin();
      const { listeners } = await kernel.apply(base);
      const rules: KernelConfig['rules'] = [
        { id: 1, source: 'manual', type: 'DST-PORT', payload: 'not a port', target: 'DIRECT' },
      ];
      await expect(kernel.apply({ ...base, rules })).rejects.toThrow(KernelConfigError);
      expect(kernel.status()).toMatchObject({ generation: 1 });
      expect((await getThrough(listeners[0]!.port, `${origin.url}/echo`)).status).toBe(200);
    } finally {
      await kernel.close();
    }
  });
});
