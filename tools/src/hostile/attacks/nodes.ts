import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:tls';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createServerIdentity } from '@gatehouse/tunnel-kernel';
import { eventuallyTrue } from '../../trials/eventually-true.js';
import type { Chance } from '../../trials/chance.js';
import { share, type Assault, type HostileAttack } from '../hostile-attack.js';
import { RawServer } from '../sockets.js';
import { UdpAsker } from '../udp-flows.js';

/** Servers of a subscription, to which the kernel connects. */
export const NODE_ATTACKS: readonly HostileAttack[] = [
  { name: 'nodes whose TLS comes after the test has ended', role: 'node', settleMs: 45_000, run: slowHandshake },
  { name: 'a UDP relay with a name of 255 x 0xff', role: 'node', quick: true, run: relayName },
  { name: 'malformed answers of each protocol', role: 'node', settleMs: 60_000, run: malformed },
];

const UUID = '2f1b6f0e-8a41-4b5a-9a52-1f6f8ad3a111';
const PASSWORD = Buffer.from('aes-128-gcm:hostile').toString('base64url');

/** Share links of one server, by protocol and transport. */
function links(port: number): string[] {
  const at = `127.0.0.1:${port}`;
  const tls = 'security=tls&sni=a.example&allowInsecure=1';
  const vmess = (net: string, secure: string): string =>
    `vmess://${Buffer.from(
      JSON.stringify({
        v: '2',
        ps: net,
        add: '127.0.0.1',
        port,
        id: UUID,
        aid: 0,
        scy: 'auto',
        net,
        path: '/',
        tls: secure,
      }),
    ).toString('base64')}`;
  return [
    `ss://${PASSWORD}@${at}#ss`,
    `http://u:p@${at}#http`,
    `socks5://${at}#socks`,
    `trojan://hostile@${at}?sni=a.example&allowInsecure=1#trojan`,
    `vless://${UUID}@${at}?type=tcp&security=none#vless`,
    `vless://${UUID}@${at}?type=ws&path=%2F&security=none#vless-ws`,
    `vless://${UUID}@${at}?type=grpc&serviceName=a&${tls}#vless-grpc`,
    `vless://${UUID}@${at}?type=http&path=%2F&${tls}#vless-h2`,
    vmess('tcp', ''),
    vmess('ws', ''),
    vmess('grpc', 'tls'),
  ];
}

/** Adds nodes, has each tested, and removes them. How many there were: a link that is not taken is left out. */
async function testNodes({ ground }: Assault, raw: readonly string[]): Promise<number> {
  const ids: number[] = [];
  for (const [at, raw_config] of raw.entries()) {
    const made = await ground.proxyApi
      .call<{ id: number }>('POST', '/proxies', { raw_config, name: `hostile ${at}` })
      .catch(() => null);
    if (made !== null) ids.push(made.id);
  }
  await Promise.all(ids.map((id) => ground.proxyApi.call('POST', `/proxies/${id}/test`, {}).catch(() => null)));
  // What was still dialled when the test gave up comes now.
  await delay(3_000);
  for (const id of ids) {
    const remove = (): Promise<unknown> => ground.proxyApi.call('DELETE', `/proxies/${id}`);
    // The service may have ended: the next attacks need it without these nodes.
    await eventuallyTrue(() => remove().then(() => true));
  }
  return ids.length;
}

async function slowHandshake(assault: Assault): Promise<string> {
  const { certificate, key } = createServerIdentity('a.example');
  const tls = createTlsServer({ cert: certificate, key, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', () => undefined).resume();
  });
  tls.on('tlsClientError', (_, socket) => socket.destroy());
  const slow = await RawServer.start((socket) => {
    const at = setTimeout(() => tls.emit('connection', socket), 6_500);
    socket.on('close', () => clearTimeout(at));
  });
  try {
    const secure = links(slow.port).filter((link) => /grpc|type=http|trojan/.test(link) || link.startsWith('vmess'));
    return `${await testNodes(assault, secure)} nodes over TLS, gRPC and HTTP/2 that answer after 6.5 s`;
  } finally {
    slow.close();
  }
}

/** A SOCKS5 server whose relay answers each datagram from a "name" that no text can hold. */
async function relayName(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const relay = createSocket('udp4').bind(0, '127.0.0.1');
  await once(relay, 'listening');
  let answered = 0;
  relay.on('message', (_, { port }) => {
    for (const name of [Buffer.alloc(255, 0xff), chance.bytes(255), Buffer.alloc(0), Buffer.from('a..b')]) {
      relay.send(Buffer.concat([Buffer.from([0, 0, 0, 3, name.length]), name, Buffer.from([0, 80, 1, 2, 3, 4])]), port);
      answered += 1;
    }
    for (const bad of [Buffer.alloc(0), Buffer.from([0, 0, 0, 9]), Buffer.from([0, 0, 1, 1, 1, 2, 3, 4, 0, 80, 1])])
      relay.send(bad, port);
  });
  const node = await RawServer.start((socket) => serveSocks(socket, relay.address().port));
  const made = await ground.proxyApi.call<{ id: number }>('POST', '/proxies', {
    raw_config: `socks5://127.0.0.1:${node.port}`,
    name: 'hostile relay',
  });
  const rule = await ground.proxyApi.call<{ id: number }>('POST', '/rules', {
    type: 'DST-PORT',
    payload: String(relay.address().port),
    target: `n${made.id}`,
    priority: 1,
  });
  try {
    await delay(1_500);
    const rounds = share(assault, 10);
    for (let at = 0; at < rounds && answered < rounds * 4; at += 1) {
      const asker = await UdpAsker.throughSocks(ground.ports.proxy, relay.address().port, chance.stranger());
      await Promise.race([asker.ask(), delay(700)]);
      asker.close();
    }
    return `${answered} datagrams with such names`;
  } finally {
    await ground.proxyApi.call('DELETE', `/rules/${rule.id}`);
    await ground.proxyApi.call('DELETE', `/proxies/${made.id}`);
    node.close();
    relay.close();
  }
}

function serveSocks(socket: Socket, relayPort: number): void {
  let turn = 0;
  socket.on('data', () => {
    turn += 1;
    if (turn === 1) socket.write(Buffer.from([5, 0]));
    else socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, relayPort >> 8, relayPort & 255]));
  });
}

type Manner = (socket: Socket, chance: Chance) => void;

/** What a server does with a client that connects. */
const MANNERS: readonly Manner[] = [
  (socket) => void socket.resetAndDestroy(),
  (socket) => void socket.end(),
  (socket, chance) => void socket.end(chance.bytes(1 + chance.below(2_000))),
  (socket, chance) => void socket.once('data', () => socket.end(chance.bytes(1 + chance.below(100)))),
  (socket) => void socket.once('data', () => socket.resetAndDestroy()),
  (socket) => void socket.once('data', () => socket.end(Buffer.from([5, 0, 5, 9, 0, 3, 255]))),
  (socket) => void socket.once('data', () => socket.end('HTTP/1.1 101 a\x01b\r\nUpgrade: websocket\r\n\r\n')),
  (socket) => void socket.once('data', () => socket.end('HTTP/1.1 000 x\r\n\r\n')),
  (socket) => void socket.once('data', () => socket.write('HTTP/1.1 200 x\r\nA: '.padEnd(200_000, 'x'))),
  (socket) => void socket.once('data', () => socket.end(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 255, 255, 255]))),
];

async function malformed(assault: Assault): Promise<string> {
  const { chance } = assault;
  const { certificate, key } = createServerIdentity('a.example');
  const secure = createTlsServer({ cert: certificate, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    socket.on('error', () => undefined);
    // A reset of a stream that TLS wraps is an end of it.
    chance.pick(MANNERS.slice(1).filter((manner) => !String(manner).includes('resetAndDestroy')))(socket, chance);
  });
  secure.on('tlsClientError', (_, socket) => socket.destroy());
  const [plain, overTls] = [
    await RawServer.start((socket) => chance.pick(MANNERS)(socket, chance)),
    await RawServer.start((socket) => secure.emit('connection', socket)),
  ];
  let tested = 0;
  try {
    for (let round = 0; round < share(assault, 4); round += 1) {
      tested += await testNodes(assault, [
        ...links(plain.port),
        ...links(overTls.port).filter((link) => /tls|trojan/.test(link)),
      ]);
    }
    return `${tested} tests of nodes of 11 kinds, answered with garbage, ends and resets`;
  } finally {
    plain.close();
    overTls.close();
  }
}
