import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseVisitorKey } from '@gatehouse/tunnel-kernel';
import { noneOf, share, type Assault, type HostileAttack } from '../hostile-attack.js';
import { converse, connectMany, dial, dialTls, RawServer } from '../sockets.js';
import { visit } from '../visits.js';

/** Strangers at the public ports of the tunnel gateway. */
export const VISITOR_ATTACKS: readonly HostileAttack[] = [
  { name: 'a long pipeline at http_proxy', role: 'visitor', quick: true, run: (one) => pipeline(one, 'http_proxy') },
  { name: 'a long pipeline at mix_proxy', role: 'visitor', run: (one) => pipeline(one, 'mix_proxy') },
  { name: 'a pipeline of listings at file', role: 'visitor', quick: true, settleMs: 60_000, run: listings },
  { name: 'datagrams from many sources, no agent there', role: 'visitor', settleMs: 90_000, run: floodAbsent },
  { name: 'datagrams from many sources', role: 'visitor', settleMs: 90_000, run: floodPresent },
  { name: "one byte of a handshake at the agents' port", role: 'visitor', quick: true, settleMs: 45_000, run: oneByte },
  { name: "half handshakes at the agents' port", role: 'visitor', settleMs: 45_000, run: (one) => half(one, 'agents') },
  { name: 'half handshakes at the https port', role: 'visitor', settleMs: 45_000, run: (one) => half(one, 'https') },
  { name: 'connections that never log in', role: 'visitor', settleMs: 45_000, run: neverLogIn },
  { name: 'a stale visitor key, many times', role: 'visitor', quick: true, run: staleKey },
  { name: 'garbage at the ports of hosts', role: 'visitor', quick: true, run: garbage },
  { name: 'half a request at the port of hosts', role: 'visitor', settleMs: 120_000, run: halfRequests },
];

async function pipeline(assault: Assault, mode: 'http_proxy' | 'mix_proxy'): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 3_000);
  const target = await RawServer.start((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun'));
  });
  const visitor = dial({ port: ground.tunnel(mode).listen_port, from: chance.stranger() });
  visitor.resume();
  const authority = `127.0.0.1:${target.port}`;
  visitor.write(`GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`.repeat(count));
  await delay(4_000 * assault.scale + 500);
  const most = target.total;
  visitor.destroy();
  await delay(2_000);
  const left = target.open.size;
  target.close();
  const findings = [];
  if (most > 64) findings.push(`${most} connections to the target`);
  // A visitor may end its side and wait for the answer: that of the request under way is still due.
  if (left > 1) findings.push(`${left} were left when the visitor had gone`);
  noneOf(findings, `${count} GETs of one connection`);
  return `${count} GETs on one connection`;
}

async function listings(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 12_000);
  const visitor = dial({ port: ground.tunnel('file').listen_port, from: chance.stranger() });
  visitor.write('GET / HTTP/1.1\r\nHost: f\r\n\r\n'.repeat(count));
  visitor.pause();
  await delay(15_000 * assault.scale + 1_000);
  visitor.destroy();
  return `${count} listings of 2,000 files, not read`;
}

/** Sends from `sources` sockets, each a visitor of its own, to every port in turn. */
async function flood(assault: Assault, ports: readonly number[], sources: number): Promise<string> {
  const each = 4;
  let sent = 0;
  for (let at = 0; at < sources; at += 100) {
    const sockets = await Promise.all(
      Array.from({ length: Math.min(100, sources - at) }, async () => {
        const socket = createSocket('udp4').bind(0, assault.chance.stranger());
        socket.on('error', () => undefined);
        await once(socket, 'listening');
        return socket;
      }),
    );
    for (const socket of sockets) {
      for (let time = 0; time < each; time += 1) {
        socket.send('x', ports[sent % ports.length] ?? 0, '127.0.0.1', () => undefined);
        sent += 1;
      }
    }
    await delay(10);
    for (const socket of sockets) socket.close();
  }
  return `${sent} datagrams from ${sources} sources to ${ports.length} ports`;
}

async function floodAbsent(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const { id } = await ground.addClient(`absent ${chance.below(1e9)}`);
  const ports: number[] = [];
  for (let at = 0; at < 8; at += 1) {
    const name = `absent ${chance.below(1e9)}`;
    const tunnel = await ground.addTunnel(name, id, { mode: 'udp', target_addr: '127.0.0.1:9' });
    ports.push(tunnel.listen_port);
  }
  const said = await flood(assault, ports, share(assault, 20_000));
  await ground.tunnelApi.call('DELETE', `/clients/${id}`);
  return said;
}

async function floodPresent(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const name = `flooded ${chance.below(1e9)}`;
  const sink = createSocket('udp4').bind(0, '127.0.0.1');
  await once(sink, 'listening');
  const target_addr = `127.0.0.1:${sink.address().port}`;
  const tunnel = await ground.addTunnel(name, ground.attacker.client.id, { mode: 'udp', target_addr });
  const said = await flood(assault, [tunnel.listen_port], share(assault, 10_000));
  await ground.tunnelApi.call('DELETE', `/tunnels/${tunnel.id}`);
  sink.close();
  return said;
}

async function oneByte(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 4_096);
  const place = (): { port: number; from: string } => ({ port: ground.ports.agents, from: chance.stranger() });
  const sockets = await connectMany(count, place, (socket) => void socket.end(Buffer.of(0x16)));
  const findings = [];
  // From an address of its own, whose limits the others have not used up.
  const newAgent = await dialTls({ port: ground.ports.agents, from: '127.99.0.1' }, 'gwv/1', 15_000).catch(() => null);
  if (newAgent === null) findings.push('a new agent gets no handshake');
  newAgent?.destroy();
  for (const socket of sockets) setTimeout(() => socket.destroy(), 30_000 * assault.scale).unref();
  noneOf(findings, `${count} connections`);
  return `${count} connections that sent 0x16 and ended`;
}

/** A whole ClientHello, and then nothing. */
async function clientHello(): Promise<Buffer> {
  const received = Promise.withResolvers<Buffer>();
  const trap = await RawServer.start((socket) => socket.once('data', received.resolve));
  void dialTls({ port: trap.port, name: 'a.example' }, 'http/1.1', 1_000).catch(() => undefined);
  const hello = await received.promise;
  trap.close();
  return hello;
}

async function half(assault: Assault, where: 'agents' | 'https'): Promise<string> {
  const { ground, chance } = assault;
  const port = ground.ports[where];
  const count = share(assault, 600);
  const hello = await clientHello();
  const place = (): { port: number; from: string } => ({ port, from: chance.stranger() });
  const sockets = await connectMany(count, place, (socket) => void socket.resume().write(hello));
  await delay(25_000);
  const left = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
  for (const socket of sockets) socket.destroy();
  noneOf(left > count / 10 ? [`${left} of ${count} are still there after 25 s`] : [], 'half handshakes');
  return `${count} ClientHellos, and nothing more for 25 s`;
}

async function neverLogIn(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 400);
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 20) {
    const some = Array.from({ length: Math.min(20, count - at) }, () =>
      dialTls({ port: ground.ports.agents, from: chance.stranger() }, chance.pick(['gwt/1', 'gwv/1', 'gwr/1'])).catch(
        () => null,
      ),
    );
    for (const socket of await Promise.all(some)) if (socket !== null) sockets.push(socket.resume());
  }
  await delay(15_000);
  const left = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
  for (const socket of sockets) socket.destroy();
  noneOf(left > 0 ? [`${left} of ${sockets.length} are still there after 15 s`] : [], 'after the handshake');
  return `${sockets.length} handshakes without a login`;
}

async function staleKey({ ground, chance }: Assault): Promise<string> {
  const { tunnelId, secret } = parseVisitorKey(ground.tunnel('secret').visitor_key ?? '');
  const place = { port: ground.ports.agents, from: chance.stranger() };
  const wrong = 'A'.repeat(43);
  await Promise.all(Array.from({ length: 30 }, () => visit(place, { tunnelId, secret: wrong })));
  const answer = await visit(place, { tunnelId, secret });
  noneOf(answer === 0 ? [] : [`the right key is answered ${answer ?? 'nothing'}`], 'beside 30 visits with a wrong one');
  return '30 wrong keys and one right one, from one address';
}

async function garbage(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 600);
  const ports = [ground.ports.http, ground.ports.https, ground.ports.agents, ground.tunnel('mix_proxy').listen_port];
  const starts = [
    '',
    'GET / HTTP/1.1\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01',
    'GWD\x01',
    '\x05\x01\x00',
  ];
  const calls = Array.from({ length: count }, () => {
    const say = Buffer.concat([Buffer.from(chance.pick(starts), 'latin1'), chance.bytes(chance.below(600))]);
    return converse({ port: chance.pick(ports), from: chance.stranger() }, say, { withinMs: 500 });
  });
  await Promise.all(calls);
  return `${count} connections with random bytes to 4 ports`;
}

async function halfRequests(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 600);
  const parts = ['G', `GET / HTTP/1.1\r\nHost: ${ground.host('odd')}\r\nX:`, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'];
  const place = (): { port: number; from: string } => ({ port: ground.ports.http, from: chance.stranger() });
  const visitors = await connectMany(count, place, (socket) => void socket.write(chance.pick(parts)));
  await delay(5_000 * assault.scale);
  for (const visitor of visitors) visitor.destroy();
  return `${count} connections with the beginning of a request`;
}
