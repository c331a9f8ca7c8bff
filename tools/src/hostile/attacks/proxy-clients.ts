import { setTimeout as delay } from 'node:timers/promises';
import { noneOf, share, type Assault, type HostileAttack } from '../hostile-attack.js';
import { converse, connectMany, dial, listenTo, RawServer, type Place } from '../sockets.js';

/** Programs that use the forward proxy. */
export const PROXY_CLIENT_ATTACKS: readonly HostileAttack[] = [
  { name: '3,000 pipelined GETs', role: 'proxy client', quick: true, run: pipeline },
  { name: 'POST and DELETE in one pipeline', role: 'proxy client', quick: true, run: overtake },
  { name: 'CONNECT behind a slow GET', role: 'proxy client', quick: true, run: connectBehind },
  { name: '1,500 origins of one client', role: 'proxy client', run: manyOrigins },
  { name: 'clients that left silent peers', role: 'proxy client', settleMs: 120_000, run: leaveSilent },
  { name: 'SOCKS4 names and user ids', role: 'proxy client', quick: true, run: socks4 },
  { name: 'odd spellings of an address that a rule rejects', role: 'proxy client', quick: true, run: spellings },
  { name: 'half a request, many times', role: 'proxy client', settleMs: 120_000, run: halfRequests },
  { name: 'garbage at the port of the proxy', role: 'proxy client', quick: true, run: garbage },
];

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const to = (port: number, path = '/'): string =>
  `http://127.0.0.1:${port}${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;

/** Reads requests without a body, one answer each, which `answer` may delay. */
function serveRequests(answer: (line: string, reply: () => void) => void): Promise<RawServer> {
  return RawServer.start((socket) => {
    let text = '';
    socket.on('end', () => socket.end());
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const [line = ''] = text.slice(0, end).split('\r\n');
        text = text.slice(end + 4);
        answer(line, () => void socket.write(OK));
      }
    });
  });
}

async function pipeline(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 3_000);
  let [open, most] = [0, 0];
  const origin = await RawServer.start((socket) => {
    most = Math.max(most, (open += 1));
    socket.on('close', () => (open -= 1)).resume();
  });
  const client = dial({ port: ground.ports.proxy, from: chance.stranger() });
  client.write(`GET ${to(origin.port)}\r\n`.repeat(count));
  await delay(4_000 * assault.scale + 500);
  client.destroy();
  await delay(1_000);
  const left = origin.open.size;
  origin.close();
  const findings = [];
  if (most > 64) findings.push(`${most} connections to the origin at a time`);
  // A client may end its side and wait for the answer: that of the request under way is still due.
  if (left > 1) findings.push(`${left} were left when the client had gone`);
  noneOf(findings, `${count} GETs of one connection`);
  return `${count} GETs on one connection, never answered`;
}

async function overtake({ ground, chance }: Assault): Promise<string> {
  const seen: string[] = [];
  const origin = await serveRequests((line, reply) => {
    const [method = ''] = line.split(' ');
    setTimeout(
      () => {
        seen.push(method);
        reply();
      },
      method === 'POST' ? 400 : 0,
    );
  });
  const place = { port: ground.ports.proxy, from: chance.stranger() };
  const say = `POST ${to(origin.port)}Content-Length: 0\r\n\r\nDELETE ${to(origin.port)}\r\n`;
  await converse(place, say, { isEnough: (text) => text.split('200 OK').length > 2, withinMs: 5_000 });
  origin.close();
  noneOf(seen.join() === 'POST,DELETE' ? [] : [`the origin had finished ${seen.join(', ') || 'nothing'}`], 'order');
  return 'POST, DELETE';
}

async function connectBehind({ ground, chance }: Assault): Promise<string> {
  const origin = await serveRequests((_, reply) => void setTimeout(reply, 800));
  const say = `GET ${to(origin.port)}\r\nCONNECT 127.0.0.1:${origin.port} HTTP/1.1\r\nHost: 127.0.0.1:${origin.port}\r\n\r\n`;
  const { text } = await converse({ port: ground.ports.proxy, from: chance.stranger() }, say, {
    isEnough: (received) => received.includes('ok') && received.split('HTTP/1.1').length > 2,
    withinMs: 3_000,
  });
  origin.close();
  const isMixed = !text.startsWith('HTTP/1.1 200 OK\r\n') && text.startsWith('HTTP/1.1 200');
  noneOf(isMixed ? ['the tunnel was opened before the request was answered'] : [], 'order');
  return 'GET (0.8 s), CONNECT';
}

async function manyOrigins(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 1_500);
  const origin = await RawServer.start((socket) => socket.on('data', () => socket.write(OK)), '0.0.0.0');
  const client = dial({ port: ground.ports.proxy, from: chance.stranger() });
  const findings = [];
  for (let at = 0; at < count; at += 1) {
    const host = `127.77.${(at >> 8) + 1}.${at & 255 || 1}:${origin.port}`;
    client.write(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const { text } = await listenTo(client, (received) => received.endsWith('ok'), 10_000);
    if (text.startsWith('HTTP/1.1 200')) continue;
    findings.push(`request ${at} was answered ${text.slice(0, 12) || 'nothing'}`);
    break;
  }
  if (origin.open.size > 256) findings.push(`${origin.open.size} idle connections to origins are kept`);
  client.destroy();
  origin.close();
  noneOf(findings, `${count} origins`);
  return `${count} origins, one after the other`;
}

async function leaveSilent(assault: Assault): Promise<string> {
  const count = share(assault, 200);
  const { ground, chance } = assault;
  const peer = await RawServer.start((socket) => socket.resume());
  ground.afterwards(() => peer.close());
  const connectTo = `CONNECT 127.0.0.1:${peer.port} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const place = (): { port: number; from: string } => ({ port: ground.ports.proxy, from: chance.stranger() });
  const clients = await connectMany(count, place, (socket) => void socket.write(connectTo));
  await delay(1_000);
  for (const client of clients) client.end();
  setTimeout(() => clients.forEach((client) => client.destroy()), 500);
  return `${count} tunnels whose clients left and whose peers say nothing`;
}

async function socks4(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 300);
  const calls = Array.from({ length: count }, (_, at) => {
    const user =
      at % 3 === 0 ? chance.bytes(chance.below(16_384)) : Buffer.from(chance.pick(['alice', '', '\u{1f600}']));
    const name = at % 2 === 0 ? chance.bytes(chance.below(300)) : Buffer.from('x'.repeat(chance.below(300)));
    const head = Buffer.from([4, 1, 0, 80, 0, 0, 0, chance.below(4)]);
    const say = Buffer.concat([head, user.filter(Boolean), Buffer.of(0), name.filter(Boolean), Buffer.of(0)]);
    return converse({ port: ground.ports.proxy, from: chance.stranger() }, say, { withinMs: 1_500 });
  });
  await Promise.all(calls);
  return `${count} SOCKS4 requests with names of any bytes`;
}

/** One address, as a resolver or a careless parser may read it. */
const SPELLINGS = [
  '127.88.0.1',
  '127.88.0.1.',
  '127.88.1',
  '2136473601',
  '0x7f.0x58.0.1',
  '0177.0130.0.1',
  '0x7f580001',
] as const;

async function spellings({ ground, chance }: Assault): Promise<string> {
  const rejected = await RawServer.start((socket) => socket.end('HTTP/1.1 200 REACHED\r\n\r\n'), '127.88.0.1');
  const rule = await ground.proxyApi.call<{ id: number }>('POST', '/rules', {
    type: 'IP-CIDR',
    payload: '127.88.0.0/16',
    target: 'REJECT',
    priority: 1,
    no_resolve: true,
  });
  try {
    await delay(1_500);
    const place = { port: ground.ports.proxy, from: chance.stranger() };
    const reached = await Promise.all(SPELLINGS.map((host) => reach(place, `${host}:${rejected.port}`)));
    noneOf(reached.flat(), 'passes the rule');
  } finally {
    await ground.proxyApi.call('DELETE', `/rules/${rule.id}`);
    rejected.close();
  }
  return `${SPELLINGS.length} spellings of one address, by GET and CONNECT`;
}

/** By which requests the server was reached. */
async function reach(place: Place, target: string): Promise<string[]> {
  const get = `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
  const connect = `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\nGET / HTTP/1.1\r\n\r\n`;
  const wanted = {
    isEnough: (received: string): boolean => /REACHED|^HTTP\/1\.1 [45]/.test(received),
    withinMs: 5_000,
  };
  const [asked, tunnelled] = await Promise.all([converse(place, get, wanted), converse(place, connect, wanted)]);
  return [
    ...(asked.text.includes('REACHED') ? [target] : []),
    ...(tunnelled.text.includes('REACHED') ? [`CONNECT ${target}`] : []),
  ];
}

async function halfRequests(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 1_000);
  const parts = ['G', 'GET http://127.0.0.1/ HTTP/1.1\r\nHost:', '\x05', '\x05\x01\x00\x05', '\x04\x01', 'CONNECT '];
  const place = (): { port: number; from: string } => ({ port: ground.ports.proxy, from: chance.stranger() });
  const clients = await connectMany(
    count,
    place,
    (socket) => void socket.write(Buffer.from(chance.pick(parts), 'latin1')),
  );
  await delay(5_000 * assault.scale);
  for (const client of clients) client.destroy();
  return `${count} connections with the beginning of a request`;
}

async function garbage(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 500);
  const calls = Array.from({ length: count }, () => {
    const start = chance.pick([
      '',
      '\x05\x01\x00',
      '\x05\x01\x00\x05\x01\x00\x03',
      'GET http://a/ HTTP/1.1\r\n',
      '\x16\x03\x01',
    ]);
    const say = Buffer.concat([Buffer.from(start, 'latin1'), chance.bytes(chance.below(600))]);
    return converse({ port: ground.ports.proxy, from: chance.stranger() }, say, { withinMs: 500 });
  });
  await Promise.all(calls);
  return `${count} connections with random bytes`;
}
