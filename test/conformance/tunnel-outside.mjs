// A built tunnel gateway as programs of others see it: testssl.sh asks its https port everything it knows, slowhttptest
// keeps its http port and the port of its API busy with slow visitors while ordinary ones are timed.
//   npm run peers; node test/conformance/tunnel-outside.mjs [--only tls|slow] [--target visitors|API] [--kind headers|body|read] [--connections N] [--pipelined N] [--seconds N]
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TunnelAgent } from '@gatehouse/tunnel-kernel';
import { cpuSeconds, freePort } from '../bench/processes.mjs';
import { startWorkplace } from '../bench/services/built-service.mjs';
import { startTunnelGateway } from '../bench/services/tunnel-gateway.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    connections: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
    target: { type: 'string' },
    kind: { type: 'string' },
    pipelined: { type: 'string', default: '1' },
  },
});
const PEERS = process.env.GATEHOUSE_PEERS_BIN ?? fileURLToPath(new URL('../../.gatehouse/peers/bin', import.meta.url));
const NAME = 'app.example.org';
/** What a target, or the owner of its host, says to browsers; the gateway adds no header itself. */
const HEADERS = {
  'Strict-Transport-Security': 'max-age=31536000',
  'Content-Security-Policy': "default-src 'self'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};
const cleanups = [];

try {
  const gateway = await startGateway();
  if (values.only !== 'slow') process.exitCode = await askTls(gateway);
  if (values.only !== 'tls') await beSlow(gateway);
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup();
}

/** With one host that has a certificate, an agent and a target. */
async function startGateway() {
  const workplace = await startWorkplace();
  cleanups.push(() => workplace.end());
  const authority = makeCertificates(path.join(workplace.home, 'tunnel-gateway', 'certificates'));
  const ports = { http: await freePort(), https: await freePort(), agents: await freePort() };
  const { call, stop, port, pid } = await startTunnelGateway(workplace, {
    env: {
      TUNNEL_LISTEN_ADDRESS: '::',
      TUNNEL_AGENT_PORT: String(ports.agents),
      TUNNEL_HTTP_PORT: String(ports.http),
      TUNNEL_HTTPS_PORT: String(ports.https),
      LOG_LEVEL: 'warn',
    },
    output: openSync(path.join(os.tmpdir(), 'gatehouse-outside.log'), 'w'),
  });
  cleanups.push(stop);
  const client = await call('POST', '/clients', { name: 'outside' });
  const target = `http://127.0.0.1:${await startOrigin()}`;
  // slowhttptest has no option for a host name that is not looked up.
  await call('POST', '/hosts', { client_id: client.id, host: 'localhost', target_addr: target });
  await call('POST', '/hosts', {
    client_id: client.id,
    host: NAME,
    target_addr: target,
    cert_path: 'leaf.pem',
    key_path: 'leaf.key',
    response_headers: HEADERS,
  });
  startAgent(client.key, ports.agents);
  for (let tries = 0; (await visit(ports.http)).status !== 200; tries++) {
    if (tries > 100) throw new Error('the host does not answer');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { ...ports, api: port, authority, pid };
}

function startAgent(key, port) {
  const quiet = () => undefined;
  const agent = new TunnelAgent({
    server: { host: '127.0.0.1', port },
    key,
    now: Date.now,
    random: Math.random,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    software: 'conformance/1',
    events: {},
  });
  agent.start();
  cleanups.push(() => agent.stop());
}

async function startOrigin() {
  const page = Buffer.alloc(256 * 1024, 'x');
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end(request.url === '/' ? 'ok' : page));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server.address().port;
}

/** An authority that testssl.sh is given to trust, and one certificate of it. */
function makeCertificates(folder) {
  mkdirSync(folder, { recursive: true });
  const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '300', '-subj', '/CN=Outside CA');
  openssl('req', ...key, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', `/CN=${NAME}`);
  const usage = 'keyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\nbasicConstraints=critical,CA:false';
  const revocation = 'crlDistributionPoints=URI:http://crl.example.org/ca.crl';
  writeFileSync(path.join(folder, 'leaf.cnf'), `subjectAltName=DNS:${NAME}\n${usage}\n${revocation}\n`);
  const issuer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '300'];
  openssl('x509', '-req', '-in', 'leaf.csr', '-out', 'leaf.pem', ...issuer, '-extfile', 'leaf.cnf');
  return path.join(folder, 'ca.pem');
}

async function askTls({ https, authority }) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-testssl-'));
  const out = path.join(folder, 'found.json');
  const args = ['--quiet', '--color', '0', '--warnings', 'off', '--nodns', 'none', '--ip', '127.0.0.1'];
  // It insists on a resolver, though the address is said and nothing is to be looked up.
  writeFileSync(path.join(folder, 'dig'), '#!/bin/sh\n', { mode: 0o755 });
  const env = { ...process.env, PATH: `${process.env.PATH}:${folder}` };
  const unpacked = path.join(PEERS, '../root/etc/testssl');
  if (existsSync(unpacked)) env.TESTSSL_INSTALL_DIR = unpacked;
  const child = spawn(
    path.join(PEERS, 'testssl'),
    [...args, '--add-ca', authority, '--jsonfile', out, `${NAME}:${https}`],
    {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  await once(child, 'exit');
  const found = JSON.parse(readFileSync(out, 'utf8')).filter(
    ({ severity }) => !['OK', 'INFO', 'WARN'].includes(severity),
  );
  rmSync(folder, { recursive: true });
  // WARN is about the machine that it runs on.
  process.stdout.write('\n=== what testssl.sh calls LOW or worse\n');
  for (const { severity, id, finding } of found) process.stdout.write(`${severity}\t${id}\t${finding}\n`);
  return found.some(({ severity }) => ['MEDIUM', 'HIGH', 'CRITICAL', 'FATAL'].includes(severity)) ? 1 : 0;
}

async function beSlow({ http, api, pid }) {
  const kinds = {
    headers: ['-H'],
    body: ['-B', '-s', '65536'],
    read: ['-X', '-w', '512', '-y', '1024', '-n', '5', '-z', '32', '-k', values.pipelined],
  };
  for (const [target, port, slowPath] of [
    ['visitors', http, '/page'],
    ['API', api, '/api/v1/openapi.json'],
  ].filter(([name]) => values.target === undefined || name === values.target)) {
    for (const [kind, options] of Object.entries(kinds)) {
      if (values.kind !== undefined && kind !== values.kind) continue;
      const host = target === 'API' ? '127.0.0.1' : NAME;
      const ordinary = timeVisits(port, target === 'API' ? '/healthz' : '/', host);
      const address = target === 'API' ? '127.0.0.1' : 'localhost';
      const before = cpuSeconds(pid);
      const summary = await slowly(`http://${address}:${port}${slowPath}`, options);
      const { p50, p99, max, failed, count } = await ordinary();
      const times = `ordinary visits: ${count}, failed ${failed}, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`;
      const cpu = (cpuSeconds(pid) - before).toFixed(1);
      process.stdout.write(`${target}, slow ${kind}: ${summary}; ${times}; CPU of the gateway ${cpu} s\n`);
      if (failed > 0) process.exitCode = 1;
    }
  }
}

async function slowly(url, options) {
  const { connections, seconds } = values;
  const load = ['-c', connections, '-r', '200', '-i', '10', '-l', seconds, '-p', '3', '-x', '24'];
  const child = spawn(path.join(PEERS, 'slowhttptest'), [...options, ...load, '-u', url], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (text += part));
  await once(child, 'close');
  // eslint-disable-next-line no-control-regex
  const plain = text.replaceAll(/\x1b\[[\d;]*[A-Za-z]/g, '');
  const all = (name) => [...plain.matchAll(new RegExp(String.raw`${name}:\s+(\w+)`, 'g'))].map(([, value]) => value);
  const most = Math.max(...all('connected').map(Number));
  if (all('service available').includes('NO')) process.exitCode = 1;
  const end = /Test ended on (\d+)\w+ second/.exec(plain)?.[1];
  const verdict = all('service available').includes('NO') ? 'NO at times' : 'YES all the time';
  return `${most} at once, ${all('closed').at(-1)} closed after ${end} s, service available ${verdict}`;
}

/** Visits every 50 ms; the function that is answered ends that and says how they went. */
function timeVisits(port, where, host) {
  const times = [];
  let failed = 0;
  let running = true;
  const loop = (async () => {
    while (running) {
      const from = performance.now();
      const { status } = await visit(port, where, host);
      if (status === 200) times.push(performance.now() - from);
      else failed++;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return async () => {
    running = false;
    await loop;
    const sorted = times.toSorted((a, b) => a - b);
    const at = (part) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN).toFixed(1);
    return { p50: at(0.5), p99: at(0.99), max: at(1), failed, count: sorted.length + failed };
  };
}

function visit(port, where = '/', host = NAME) {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: where, headers: { host }, agent: false, timeout: 5_000 };
    const request = get(options, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode }));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve({ status: 0 }));
  });
}
