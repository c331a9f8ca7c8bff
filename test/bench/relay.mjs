// npm run bench -- relay [rounds] [seconds]
//
// The relay of the kernel beside a plain Node relay, v2ray, mihomo, sing-box and shadowsocks-libev.
// Every subject runs in every round, one after the other, against the same target and the same load; what is compared
// is the CPU time of the subject alone.
// Shadowsocks subjects are clients of one and the same server (shadowsocks-libev's, where it is there, else v2ray's).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  cpuSeconds,
  findPeer,
  freePort,
  residentBytes,
  startProgram,
  startScript,
  stop,
  stopAll,
} from './processes.mjs';
import { figure, median, printTable } from './table.mjs';

const here = (name) => fileURLToPath(new URL(`relay/${name}`, import.meta.url));
const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 2);
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
const PASSWORD = 'bench-password';
const METHODS = ['aes-128-gcm', 'chacha20-ietf-poly1305'];
const missing = [];

function configFile(name, value) {
  const file = path.join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(value));
  return file;
}

async function startV2ray(name, inbound) {
  const binary = findPeer('v2ray');
  if (!binary) return null;
  const port = await freePort();
  const config = {
    log: { loglevel: 'none' },
    inbounds: [{ listen: '127.0.0.1', port, ...inbound }],
    outbounds: [{ protocol: 'freedom' }],
  };
  const { child } = await startProgram(binary, ['-config', configFile(name, config)], port);
  return { child, port };
}

/** shadowsocks-libev's server first: it fills its chunks, v2ray's cuts them at 2 KiB. */
async function startShadowsocksServer(method) {
  const binary = findPeer('ss-server');
  if (binary) {
    const port = await freePort();
    const args = ['-s', '127.0.0.1', '-p', String(port), '-k', PASSWORD, '-m', method];
    return { ...(await startProgram(binary, args, port)), port, kind: 'shadowsocks-libev' };
  }
  const v2ray = await startV2ray(`server-${method}`, {
    protocol: 'shadowsocks',
    settings: { method: method.replace('-ietf', ''), password: PASSWORD, network: 'tcp' },
  });
  return v2ray && { ...v2ray, kind: 'v2ray' };
}

const plain = {
  name: 'plain Node relay',
  start: (target) => startScript(here('plain-relay.mjs'), [String(target)]),
  socks: false,
};
const direct = { name: 'gatehouse direct', start: () => startScript(here('kernel.mjs'), ['{}']), socks: true };
const v2ray = {
  name: 'v2ray socks to freedom',
  start: () => startV2ray('plain', { protocol: 'socks', settings: { auth: 'noauth', udp: false } }),
  socks: true,
};

/** @param server the port of a Shadowsocks server; absent: targets are dialled directly. */
async function startMihomo(method, server) {
  const port = await freePort();
  const home = path.join(folder, `mihomo-${port}`);
  mkdirSync(home);
  const proxy = { name: 'way', type: 'ss', server: '127.0.0.1', port: server, cipher: method, password: PASSWORD };
  const config = {
    'socks-port': port,
    'bind-address': '127.0.0.1',
    'log-level': 'silent',
    ...(server && { proxies: [proxy] }),
    rules: [`MATCH,${server ? 'way' : 'DIRECT'}`],
  };
  // YAML contains JSON.
  const args = ['-d', home, '-f', configFile(`mihomo-${port}`, config)];
  return { ...(await startProgram(findPeer('mihomo'), args, port)), port };
}

async function startSingBox(method, server) {
  const port = await freePort();
  const node = { type: 'shadowsocks', server: '127.0.0.1', server_port: server, method, password: PASSWORD };
  const config = {
    log: { disabled: true },
    inbounds: [{ type: 'socks', listen: '127.0.0.1', listen_port: port }],
    outbounds: [server ? node : { type: 'direct' }],
  };
  const args = ['run', '-c', configFile(`sing-box-${port}`, config)];
  return { ...(await startProgram(findPeer('sing-box'), args, port)), port };
}

/** The peers that are there, of those that do both. */
function otherProxies(name, method, server) {
  const all = [
    { needs: 'mihomo', start: () => startMihomo(method, server) },
    { needs: 'sing-box', start: () => startSingBox(method, server) },
  ];
  const found = all.filter(({ needs }) => findPeer(needs));
  for (const { needs } of all) if (!findPeer(needs) && !missing.includes(needs)) missing.push(needs);
  return found.map(({ needs, start }) => ({ name: `${needs} ${name}`, start, socks: true }));
}

function shadowsocksSubjects(method, server) {
  const route = JSON.stringify({ method, password: PASSWORD, server });
  const subjects = [
    { name: `gatehouse ss ${method}`, start: () => startScript(here('kernel.mjs'), [route]), socks: true },
    ...otherProxies(`ss ${method}`, method, server),
  ];
  const binary = findPeer('ss-local');
  if (!binary) missing.push(`ss-local (shadowsocks-libev ${method})`);
  else
    subjects.push({
      name: `shadowsocks-libev ${method}`,
      start: () => startSsLocal(binary, method, server),
      socks: true,
    });
  return subjects;
}

async function startSsLocal(binary, method, server) {
  const port = await freePort();
  const args = [
    '-s',
    '127.0.0.1',
    '-p',
    String(server),
    '-b',
    '127.0.0.1',
    '-l',
    String(port),
    '-k',
    PASSWORD,
    '-m',
    method,
  ];
  return { ...(await startProgram(binary, args, port)), port };
}

async function ask(load, mode, options) {
  load.send({ mode, options });
  const message = await new Promise((resolve) => {
    load.once('message', resolve);
    load.once('exit', () => resolve({ error: `the load ended during ${mode}` }));
  });
  if (message.error) throw new Error(message.error);
  return message.result;
}

/** Runs one load and adds what CPU time the subject spent on it. */
async function measure(pid, load, mode, options) {
  const before = cpuSeconds(pid);
  const result = await ask(load, mode, options);
  return { ...result, cpu: cpuSeconds(pid) - before };
}

async function runSubject(subject, target, load) {
  const started = await subject.start(target);
  if (!started) return null;
  const entry = started.port ?? started.first.port;
  const { pid } = started.child;
  const route = { entry, target, socks: subject.socks };
  await ask(load, 'requests', { ...route, seconds: 0.3, concurrency: 4, size: 64 }); // warm up
  const down = await measure(pid, load, 'throughput', { ...route, direction: 'down', seconds, streams: 1 });
  const up = await measure(pid, load, 'throughput', { ...route, direction: 'up', seconds, streams: 1 });
  const many = await measure(pid, load, 'throughput', { ...route, direction: 'down', seconds, streams: 50 });
  const rss = residentBytes(pid);
  const small = await measure(pid, load, 'requests', { ...route, seconds, concurrency: 16, size: 64 });
  // Otherwise a second of new connections would measure the compiler of whoever has one.
  await ask(load, 'connections', { ...route, seconds: 2, concurrency: 16 });
  const fresh = await measure(pid, load, 'connections', { ...route, seconds, concurrency: 16 });
  await stop(started.child);
  if (fresh.failed > 0) process.stderr.write(`${fresh.failed} of ${fresh.count} new connections failed\n`);
  return { down, up, many, small, fresh, rss };
}

const GB = 1e9;
const columns = [
  ['subject', (row) => row.name],
  ['GB/s down', (row) => figure(row.of((run) => run.down.bytes / run.down.seconds / GB))],
  ['CPU s/GB down', (row) => figure(row.of((run) => run.down.cpu / (run.down.bytes / GB)))],
  ['GB/s up', (row) => figure(row.of((run) => run.up.bytes / run.up.seconds / GB))],
  ['CPU s/GB up', (row) => figure(row.of((run) => run.up.cpu / (run.up.bytes / GB)))],
  ['GB/s 50 streams', (row) => figure(row.of((run) => run.many.bytes / run.many.seconds / GB))],
  ['CPU s/GB 50 streams', (row) => figure(row.of((run) => run.many.cpu / (run.many.bytes / GB)))],
  [
    'req/s',
    (row) =>
      figure(
        row.of((run) => run.small.count / run.small.seconds),
        0,
      ),
  ],
  [
    'CPU µs/req',
    (row) =>
      figure(
        row.of((run) => (run.small.cpu * 1e6) / run.small.count),
        1,
      ),
  ],
  [
    'p50 µs',
    (row) =>
      figure(
        row.of((run) => run.small.p50),
        0,
      ),
  ],
  [
    'p99 µs',
    (row) =>
      figure(
        row.of((run) => run.small.p99),
        0,
      ),
  ],
  [
    'conn/s',
    (row) =>
      figure(
        row.of((run) => run.fresh.count / run.fresh.seconds),
        0,
      ),
  ],
  [
    'CPU µs/conn',
    (row) =>
      figure(
        row.of((run) => (run.fresh.cpu * 1e6) / run.fresh.count),
        0,
      ),
  ],
  [
    'RSS MB',
    (row) =>
      figure(
        row.of((run) => run.rss / 1e6),
        0,
      ),
  ],
];

const target = (await startScript(here('target.mjs'))).first.port;
const load = (await startScript(here('load.mjs'))).child;
const subjects = [plain, direct];
if (findPeer('v2ray')) subjects.push(v2ray);
else missing.push('v2ray');
subjects.push(...otherProxies('direct'));
let serverKind = null;
for (const method of METHODS) {
  const server = await startShadowsocksServer(method);
  if (!server) missing.push(`a Shadowsocks server for ${method}`);
  else {
    serverKind = server.kind;
    subjects.push(...shadowsocksSubjects(method, server.port));
  }
}
const runs = new Map(subjects.map(({ name }) => [name, []]));
for (let round = 1; round <= rounds; round++) {
  for (const subject of subjects) {
    process.stderr.write(`round ${round} of ${rounds}: ${subject.name}\n`);
    const run = await runSubject(subject, target, load);
    if (run) runs.get(subject.name).push(run);
  }
}
await stopAll();
rmSync(folder, { recursive: true, force: true });

const rows = subjects.map(({ name }) => ({ name, of: (read) => median(runs.get(name).map(read)) }));
console.log(
  `\nMedian of ${rounds} rounds, ${seconds} s a figure, ${os.cpus().length} cores, Node ${process.version}; CPU of the subject alone.`,
);
if (serverKind) console.log(`Shadowsocks server for all clients: ${serverKind}.`);
console.log();
printTable('relay', columns, rows);
if (missing.length > 0) console.log(`\nNot there, so not measured: ${missing.join(', ')}. npm run peers brings them.`);
