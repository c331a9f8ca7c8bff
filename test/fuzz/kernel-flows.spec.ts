import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { NodeTls, ProxyNode } from '@gatehouse/contracts';
import { onFlowFailure, type FlowFailure } from '@gatehouse/net';
import { createProxyKernel, parseRuleLine, type KernelConfig } from '@gatehouse/proxy-kernel';
import { Chance, clientWords, startHostileServers, visit } from '../support/hostile-peers.js';
import { PASSWORD, USER_ID } from '../support/node-servers.js';
import { FINGERPRINT } from '../support/tls-identity.js';

/**
 * Hostile clients, origins and nodes of every protocol: nothing that they say may throw where only the boundary of a flow
 * catches it, and a flow beside them goes on. `HOSTILE_ROUNDS` for longer, `HOSTILE_SEED` for the same again.
 */
const ROUNDS = Number(process.env['HOSTILE_ROUNDS'] ?? 12);
const SEED = Number(process.env['HOSTILE_SEED'] ?? Date.now() % 1_000_000);
const VISITS = 12;

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

type Wish = Record<string, unknown>;

function nodesAt({ tcp, tls }: { tcp: number; tls: number }): ProxyNode[] {
  const identity: NodeTls = { sni: 'proxy.test', fingerprint: FINGERPRINT };
  const key = (bytes: number): string => Buffer.alloc(bytes, 1).toString('base64');
  const transports: Wish[] = [
    {},
    { transport: { type: 'ws', path: '/a' } },
    { transport: { type: 'grpc', serviceName: 'a' } },
    { transport: { type: 'h2', path: '/a' } },
    { transport: { type: 'httpupgrade', path: '/a' } },
  ];
  const plain: Wish[] = [
    { type: 'ss', cipher: 'aes-128-gcm', password: PASSWORD },
    { type: 'ss', cipher: '2022-blake3-aes-128-gcm', password: key(16) },
    { type: 'socks5' },
    { type: 'socks5', username: 'a', password: PASSWORD },
    { type: 'http' },
    { type: 'ssh', options: { username: 'a', password: PASSWORD } },
    ...transports.map((transport) => ({
      type: 'vmess',
      uuid: USER_ID,
      alterId: 0,
      cipher: 'auto',
      ...transport,
    })),
    ...transports.map((transport) => ({ type: 'vless', uuid: USER_ID, ...transport })),
  ];
  const secured: Wish[] = [
    ...transports.map((transport) => ({ type: 'trojan', password: PASSWORD, ...transport })),
    { type: 'anytls', options: { password: PASSWORD, 'skip-cert-verify': true } },
    { type: 'http' },
  ];
  return [
    ...plain.map((node) => ({ name: 'x', server: '127.0.0.1', port: tcp, ...node })),
    ...secured.map((node) => ({ name: 'x', server: '127.0.0.1', port: tls, tls: identity, ...node })),
  ] as unknown as ProxyNode[];
}

async function startEcho(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  endings.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function startProxy(nodes: readonly ProxyNode[]) {
  const kernel = createProxyKernel({
    now: Date.now,
    logger: quiet,
    country: () => null,
    timeouts: { handshake: 400, dial: 400, udpIdle: 300, drop: 50, halfClosed: 200 },
    resolver: { resolve: () => Promise.resolve(['127.0.0.1']) },
  });
  endings.push(() => kernel.close());
  const config: KernelConfig = {
    mode: 'rule',
    listeners: [{ name: 'in', type: 'mixed', address: '127.0.0.1', port: 0 }],
    outbounds: nodes.map((node, index) => ({ tag: `n${index}`, node })),
    groups: [],
    rules: nodes.map((_node, id) => ({ id, source: 'manual', ...parseRuleLine(`DOMAIN,n${id}.test,n${id}`) })),
    defaultPolicy: 'DIRECT',
  };
  const { listeners } = await kernel.apply(config);
  return { kernel, port: listeners[0]?.port ?? 0 };
}

/** A tunnel whose bytes come back, all the time. */
async function startWitness(proxy: number, echo: number): Promise<() => Promise<void>> {
  const socket: Socket = connect(proxy, '127.0.0.1');
  endings.push(() => socket.destroy());
  socket.write(`CONNECT live.test:${echo} HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect(String((await once(socket, 'data'))[0])).toContain('200');
  return async () => {
    const back = once(socket, 'data');
    socket.write('still here');
    expect(String((await back)[0])).toBe('still here');
  };
}

/** Datagrams of a SOCKS client, right and wrong, to targets behind every node. */
async function sendDatagrams(proxy: number, targets: readonly { host: string; port: number }[], chance: Chance) {
  const control = connect(proxy, '127.0.0.1').on('error', () => undefined);
  const udp = createSocket('udp4').on('error', () => undefined);
  endings.push(
    () => control.destroy(),
    () => udp.close(),
  );
  control.write(Buffer.from([5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]));
  let answer = Buffer.alloc(0);
  while (answer.length < 12) answer = Buffer.concat([answer, (await once(control, 'data'))[0] as Buffer]);
  const relay = answer.readUInt16BE(10);
  for (const { host, port } of targets) {
    const head = Buffer.concat([
      Buffer.from([0, 0, 0, 3, host.length]),
      Buffer.from(host),
      Buffer.from([port >> 8, port & 255]),
    ]);
    const datagram = Buffer.concat([head, chance.bytes(1500)]);
    for (const bytes of [datagram, chance.spoil(datagram)]) udp.send(bytes, relay, '127.0.0.1', () => undefined);
  }
}

it(
  `nothing that hostile peers say is uncaught or touches another flow (seed ${SEED})`,
  { timeout: 60_000 + ROUNDS * 2_000 },
  async () => {
    const failures: FlowFailure[] = [];
    endings.push(onFlowFailure((failure) => failures.push(failure)));
    const chance = new Chance(SEED);
    const hostile = await startHostileServers(chance);
    endings.push(() => hostile.close());
    const nodes = nodesAt(hostile.ports);
    const { kernel, port } = await startProxy(nodes);
    const isStillHere = await startWitness(port, await startEcho());
    const hosts = ['origin.test', ...nodes.map((_node, index) => `n${index}.test`)];
    const targets = hosts.map((host) => ({ host, port: hostile.ports.udp }));
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % 5 === 0) await sendDatagrams(port, targets, chance);
      const visits = Array.from({ length: VISITS }, () =>
        visit(port, clientWords(chance.pick(hosts), hostile.ports.tcp), chance),
      );
      await Promise.all([...visits, isStillHere()]);
      expect(failures).toEqual([]);
    }
    await isStillHere();
    // Their clients have gone.
    const left = (): unknown[] =>
      kernel.connections().filter(({ network, host }) => network === 'tcp' && host !== 'live.test');
    await expect.poll(() => left().length, { timeout: 20_000 }).toBe(0);
    expect(failures).toEqual([]);
  },
);
