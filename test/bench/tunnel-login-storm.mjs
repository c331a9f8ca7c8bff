// What a storm of wrong logins does to the tunnel gateway and to those who log in meanwhile:
// npm run bench -- tunnel-login-storm [attempts] [seconds]
import http from 'node:http';
import { cpuSeconds } from './processes.mjs';
import { startWorkplace } from './services/built-service.mjs';
import { PASSWORD, startTunnelGateway } from './services/tunnel-gateway.mjs';
import { loadLine, printTable } from './table.mjs';

const ATTEMPTS = Number(process.argv[2] ?? 10_000);
const SECONDS = Number(process.argv[3] ?? 50);

/** The attackers of each storm, and their address for the nth attempt. */
const STORMS = [
  ['one address', () => '203.0.113.1'],
  ['100 addresses', (count) => `203.0.113.${100 + (count % 100)}`],
  ['10,000 addresses', (count) => `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`],
];

const workplace = await startWorkplace();
const service = await startTunnelGateway(workplace, { env: { TRUSTED_PROXIES: '127.0.0.1' } });
const agent = new http.Agent({ keepAlive: true, maxSockets: 2_000 });

const known = '192.0.2.1';
await attempt(known, PASSWORD);
console.log(`${ATTEMPTS} attempts in ${SECONDS} s each; ${loadLine()}\n`);
const rows = [];
for (const [name, addressOf] of STORMS) rows.push(await storm(name, addressOf));
printTable(
  'storms',
  [
    ['attack from', ({ name }) => name],
    ['401', ({ count }) => count(401)],
    ['429', ({ count }) => count(429)],
    ['503', ({ count }) => count(503)],
    ['cores', ({ cores }) => cores.toFixed(2)],
    ['login from a known address, ms', ({ own }) => middle(own.known)],
    ['from a new address, ms (refused)', ({ own }) => `${middle(own.fresh)} (${own.refused})`],
  ],
  rows,
);
await service.stop();
await workplace.end();
process.exit(0);

async function storm(name, addressOf) {
  const answers = new Map();
  const own = { known: [], fresh: [], refused: 0 };
  const cpu = cpuSeconds(service.pid);
  const began = performance.now();
  const all = [];
  const logins = [];
  let sent = 0;
  let fresh = 0;
  const timer = setInterval(() => {
    const due = Math.min(ATTEMPTS, Math.floor(((performance.now() - began) / 1_000 / SECONDS) * ATTEMPTS));
    for (; sent < due; sent++) {
      all.push(
        attempt(addressOf(sent), 'a guess').then(({ status }) => answers.set(status, (answers.get(status) ?? 0) + 1)),
      );
    }
  }, 10);
  for (let second = 1; second < SECONDS; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    logins.push(logIn(known, own.known, own));
    logins.push(logIn(`198.51.100.${++fresh}`, own.fresh, own));
  }
  while (sent < ATTEMPTS) await new Promise((resolve) => setTimeout(resolve, 20));
  clearInterval(timer);
  await Promise.all([...all, ...logins]);
  const seconds = (performance.now() - began) / 1_000;
  const cores = (cpuSeconds(service.pid) - cpu) / seconds;
  const count = (status) => answers.get(status) ?? 0;
  const odd = [...answers].filter(([status]) => ![401, 429, 503].includes(status));
  if (odd.length > 0) console.log('unexpected answers:', odd);
  return { name, count, cores, own };
}

async function logIn(address, times, own) {
  const began = performance.now();
  const { status } = await attempt(address, PASSWORD);
  if (status === 200) times.push(performance.now() - began);
  else if (address === known) throw new Error(`the known address was answered ${status}`);
  else if (status === 503) own.refused += 1;
  else throw new Error(`a new address was answered ${status}`);
}

function middle(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN);
  return `p50 ${at(0.5)}, max ${at(1)}, n ${sorted.length}`;
}

function attempt(address, password) {
  const body = JSON.stringify({ username: 'admin', password });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-forwarded-for': address,
  };
  return new Promise((resolve) => {
    const request = http.request(
      { port: service.port, host: '127.0.0.1', path: '/api/v1/auth/login', method: 'POST', agent, headers },
      (response) => {
        response.resume();
        response.once('end', () => resolve({ status: response.statusCode }));
      },
    );
    request.once('error', ({ code }) => resolve({ status: code }));
    request.end(body);
  });
}
