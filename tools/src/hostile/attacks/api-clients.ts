import { setTimeout as delay } from 'node:timers/promises';
import { noneOf, share, type Assault, type HostileAttack } from '../hostile-attack.js';
import { converse, connectMany } from '../sockets.js';

/** Programs that call the APIs of the three services. */
export const API_ATTACKS: readonly HostileAttack[] = [
  { name: 'huge and deep JSON', role: 'API client', quick: true, run: hugeJson },
  { name: 'bodies that never come', role: 'API client', settleMs: 180_000, run: slowBodies },
  { name: 'many connections to the APIs', role: 'API client', settleMs: 120_000, run: manyConnections },
  { name: 'odd requests to the APIs', role: 'API client', quick: true, run: oddRequests },
];

const PATHS = { proxy: '/api/v1/auth/login', site: '/api/site/login', tunnel: '/api/v1/auth/login' } as const;
type Service = keyof typeof PATHS;
const SERVICES = Object.keys(PATHS) as Service[];
const SENT = { isEnough: (text: string): boolean => text.includes('\r\n\r\n'), withinMs: 30_000 };

function portOf({ ground }: Assault, service: Service): number {
  return Number(new URL(ground.services[service]).port);
}

function post(service: Service, body: string | Buffer, length = Buffer.byteLength(body)): Buffer {
  const head = `POST ${PATHS[service]} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

async function hugeJson(assault: Assault): Promise<string> {
  const { chance } = assault;
  const size = share(assault, 32 * 1024 * 1024);
  const bodies = [
    Buffer.alloc(size, 0x20),
    Buffer.from(`{"password":"${'x'.repeat(size / 4)}"}`),
    Buffer.from('['.repeat(size / 64)),
    Buffer.from(`{"a":`.repeat(10_000)),
    Buffer.from(`{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join()}}`),
    Buffer.from('{"password":"\\u0000","__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}'),
    Buffer.from(`{"password":${'9'.repeat(20_000)}}`),
  ];
  const findings: string[] = [];
  for (const service of SERVICES) {
    const all = bodies.map(async (body, at) => {
      const { text, isOver } = await converse(
        { port: portOf(assault, service), from: chance.stranger() },
        post(service, body),
        SENT,
      );
      if (text.startsWith('HTTP/1.1 5')) findings.push(`${service}: body ${at} is answered ${text.slice(9, 12)}`);
      else if (text === '' && !isOver) findings.push(`${service}: body ${at} is not answered`);
    });
    await Promise.all(all);
  }
  noneOf(findings, 'bodies');
  return `${bodies.length} bodies of up to ${Math.round(size / 1024)} KiB to 3 services`;
}

async function slowBodies(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 200);
  for (const service of SERVICES) {
    const place = (): { port: number; from: string } => ({ port: portOf(assault, service), from: chance.stranger() });
    const callers = await connectMany(count, place, (socket) => void socket.write(post(service, '{"pass', 1_000)));
    ground.afterwards(() => callers.forEach((caller) => caller.destroy()));
    setTimeout(() => callers.forEach((caller) => caller.destroy()), 20_000).unref();
  }
  await delay(10_000);
  return `${count} logins to each of 3 services, whose bodies do not come`;
}

async function manyConnections(assault: Assault): Promise<string> {
  const { chance } = assault;
  const count = share(assault, 1_000);
  const parts = ['', 'GET', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: b\r\n'];
  for (const service of SERVICES) {
    const place = (): { port: number; from: string } => ({ port: portOf(assault, service), from: chance.stranger() });
    const callers = await connectMany(count, place, (socket) => void socket.write(chance.pick(parts)));
    await delay(1_000);
    for (const caller of callers) caller.destroy();
  }
  return `${count} connections to each of 3 services`;
}

async function oddRequests(assault: Assault): Promise<string> {
  const { chance } = assault;
  const requests = [
    `GET /healthz HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(5_000)}\r\n`,
    `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    'GET /api/v1/%00%ff%2e%2e%2f HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET //evil.example/%2f.. HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n',
    'POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
    'POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n',
    'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: a\r\n\r\n',
    'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(500),
    'GET /api/v1/clients HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \xff\xfe\x01\r\n\r\n',
    'GET /api/v1/clients?limit=1e309&cursor=%00 HTTP/1.1\r\nHost: a\r\n\r\n',
  ];
  const findings: string[] = [];
  for (const service of SERVICES) {
    const all = requests.map(async (say, at) => {
      const place = { port: portOf(assault, service), from: chance.stranger() };
      const { text } = await converse(place, Buffer.from(say, 'latin1'), { ...SENT, withinMs: 10_000 });
      if (/^HTTP\/1\.1 50[0-2]/.test(text)) findings.push(`${service}: request ${at} is answered ${text.slice(9, 12)}`);
    });
    await Promise.all(all);
  }
  noneOf(findings, 'requests');
  return `${requests.length} odd requests to 3 services`;
}
