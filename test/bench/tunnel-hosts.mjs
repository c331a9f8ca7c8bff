// npm run bench -- tunnel-hosts [rounds] [seconds] [hosts|recording]
//
// Two tables; the third argument takes one of them.
//
// Requests to a host of the tunnel, beside nginx, haproxy and caddy as reverse proxies on the same machine.
// The target is an nginx that answers from memory; wrk and h2load ask, 64 connections at a time. Every subject runs in
// every round. CPU is that of the subject alone; the peers have no tunnel to carry requests through, the agent's share
// stands apart. Then requests come at 70 % of the rate that the subject just did: evenly spaced, and in the bursts of
// h2load.
//
// What recording of requests costs: three servers run all the time and are asked in turn. Other work on the machine only
// adds to what a request costs, so the least of the rounds says more than their median. What the recorder alone takes for
// the same requests, in this process, is the figure to trust on a busy machine.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { EDGE_FLAGS } from '../../apps/tunnel-gateway/dist/edge-supervisor/fork-edge.js';
import { RequestRecorder } from '../../libs/tunnel-kernel/dist/recording/request-recorder.js';
import {
  cpuSeconds,
  findPeer,
  requirePeer,
  freePort,
  residentBytes,
  startProgram,
  startScript,
  stop,
  stopAll,
} from './processes.mjs';
import { figure, inTurn, loadLine, median, printTable } from './table.mjs';
import { burstP99, evenP99 } from './tunnel/paced-loads.mjs';

const run = promisify(execFile);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 4);
const only = process.argv[4];
const CONNECTIONS = 64;
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-hosts-'));

function nginxFile(name, port, location) {
  const file = path.join(folder, `${name}.conf`);
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  writeFileSync(
    file,
    `${process.getuid() === 0 ? 'user root;' : ''} daemon off; pid ${folder}/${name}.pid; worker_processes 1;
events { worker_connections 4096; }
http { access_log off; ${temp.join(' ')} keepalive_requests 1000000000; ${location(port)} }`,
  );
  return ['-p', folder, '-e', path.join(folder, `${name}.log`), '-c', file];
}

async function startNginx(name, location) {
  const port = await freePort();
  const { child } = await startProgram(requirePeer('nginx'), nginxFile(name, port, location), port);
  return { port, child };
}

const BODY = 'x'.repeat(1024);
const originLocation = (port) =>
  `server { listen 127.0.0.1:${port} backlog=4096; location / { default_type text/plain; return 200 "${BODY}"; } }`;

async function startTunnel(target, encrypt, record = 'off') {
  const options = { execArgv: EDGE_FLAGS };
  const server = await startScript(here('tunnel/hosts-server.mjs'), [String(target), encrypt, record], options);
  const { door, port, securePort, key } = server.first;
  const agent = await startScript(here('tunnel/agent.mjs'), [String(door), key]);
  return { port, securePort, processes: [server.child, agent.child] };
}

async function startHaproxy(target) {
  const port = await freePort();
  const file = path.join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend f
  bind 127.0.0.1:${port}
  option forwardfor
  default_backend b
backend b
  server s 127.0.0.1:${target}
`,
  );
  const { child } = await startProgram(findPeer('haproxy'), ['-f', file], port);
  return { port, processes: [child] };
}

async function startCaddy(target) {
  const port = await freePort();
  const file = path.join(folder, 'Caddyfile');
  writeFileSync(
    file,
    `{\n admin off\n auto_https off\n}\nhttp://127.0.0.1:${port} {\n reverse_proxy 127.0.0.1:${target} {\n  transport http {\n   keepalive_idle_conns_per_host 128\n  }\n }\n}\n`,
  );
  const { child } = await startProgram(findPeer('caddy'), ['run', '--config', file, '--adapter', 'caddyfile'], port);
  return { port, processes: [child] };
}

async function startNginxProxy(target) {
  const { port, child } = await startNginx(
    'proxy',
    (own) => `upstream t { server 127.0.0.1:${target}; keepalive 128; keepalive_requests 1000000000; }
server { listen 127.0.0.1:${own} backlog=4096; location / { proxy_pass http://t; proxy_http_version 1.1;
proxy_set_header Connection ""; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; } }`,
  );
  return { port, processes: [child] };
}

const subjects = [
  { name: 'gatehouse plain', start: (target) => startTunnel(target, 'plain') },
  { name: 'gatehouse sealed channels', start: (target) => startTunnel(target, 'tls') },
  { name: 'gatehouse h2 visitors', h2: true, start: (target) => startTunnel(target, 'plain') },
  { name: 'nginx (no tunnel)', peer: 'nginx', start: startNginxProxy },
  { name: 'haproxy (no tunnel)', peer: 'haproxy', start: startHaproxy },
  { name: 'caddy (no tunnel)', peer: 'caddy', start: startCaddy },
].filter(({ peer }) => !peer || findPeer(peer));

/** Answers requests and the 50th and 99th percentile in milliseconds. */
async function wrk(port, forSeconds) {
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${forSeconds}s`, '--latency', `http://127.0.0.1:${port}/`];
  const { stdout } = await run(requirePeer('wrk'), args);
  const errors = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(stdout);
  if (errors) throw new Error(errors[0]);
  const milliseconds = (name) => {
    const [, value, unit] = new RegExp(`${name}%\\s+([\\d.]+)(us|ms|s)`).exec(stdout) ?? [];
    return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit];
  };
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)[1]),
    seconds: forSeconds,
    p50: milliseconds('50'),
    p99: milliseconds('99'),
  };
}

async function h2load(port, forSeconds) {
  const args = ['-t1', '-c4', '-m16', `-D${forSeconds}`, `https://127.0.0.1:${port}/`];
  const { stdout } = await run(requirePeer('h2load'), args);
  const [, requests] = /(\d+) succeeded/.exec(stdout);
  return { requests: Number(requests), seconds: forSeconds, p50: Number.NaN, p99: Number.NaN };
}

async function runSubject({ start, h2 }, target) {
  const { port, securePort, processes } = await start(target);
  const load = (time) => (h2 ? h2load(securePort, time) : wrk(port, time));
  await load(2); // warm up
  const before = processes.map(({ pid }) => cpuSeconds(pid));
  const result = await load(seconds);
  const cpus = processes.map(({ pid }, index) => cpuSeconds(pid) - before[index]);
  const rss = residentBytes(processes[0].pid);
  const rate = Math.round((0.7 * result.requests) / seconds);
  const pace = { port: h2 ? securePort : port, h2, rate, connections: h2 ? 4 : CONNECTIONS, seconds, folder };
  const even = await evenP99(pace);
  const burst = await burstP99(pace);
  for (const child of processes) await stop(child);
  return { ...result, cpus, rss, even, burst };
}

/** The agent of a server that has just started may not be there yet. */
async function untilServed(port) {
  for (const until = performance.now() + 30_000; performance.now() < until;) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
    await answer?.text();
    if (answer?.status === 200) return;
  }
  throw new Error('the host is not served');
}

const REQUEST_FIELDS = [
  'Host',
  '127.0.0.1:40000',
  'User-Agent',
  'wrk/4.1',
  'Accept',
  '*/*',
  'Connection',
  'keep-alive',
];
const ANSWER_FIELDS = ['Content-Type', 'text/plain', 'Server', 'nginx', 'Content-Length', '1024'];

/** CPU of the recorder alone in microseconds a request: the least of some rounds, with 64 requests at a time. */
function recorderAlone(level) {
  if (level === 'off') return 0;
  const recorder = new RequestRecorder(Date.now);
  const body = Buffer.from(BODY);
  const start = { hostId: 1, level, method: 'GET', scheme: 'http', authority: '127.0.0.1:40000', target: '/' };
  const rest = { version: '1.1', visitor: '127.0.0.1', fields: REQUEST_FIELDS, headBytes: 90, replayOf: null };
  const running = [];
  let least = Infinity;
  for (let round = 0; round < 15; round++) {
    const before = process.cpuUsage();
    for (let count = 0; count < 50_000; count++) {
      const record = recorder.begin({ ...start, ...rest, startedAt: Date.now() });
      record.sent();
      record.answers(200, ANSWER_FIELDS, 150, null);
      record.answerPart(body);
      if (running.push(record) > CONNECTIONS) running.shift().end({ upload: 90, download: 150 + body.length }, null);
    }
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 50_000);
  }
  recorder.stop();
  return least;
}

/** Rounds of servers that are asked in turn: CPU of each in microseconds a request. */
async function recordedRounds(target) {
  const servers = [];
  for (const record of ['off', 'requests', 'full']) {
    servers.push({ record, costs: [], ...(await startTunnel(target, 'plain', record)) });
  }
  for (const { port } of servers) await untilServed(port);
  for (const { port } of servers) await wrk(port, 2); // warm up
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`recording, round ${round} of ${rounds}\n`);
    for (const server of inTurn(servers, round)) {
      const [{ pid }] = server.processes;
      const before = cpuSeconds(pid);
      const { requests } = await wrk(server.port, seconds);
      server.costs.push(((cpuSeconds(pid) - before) * 1e6) / requests);
    }
  }
  const rows = servers.map(({ record, costs, processes }) => ({
    name: record,
    cost: median(costs),
    least: Math.min(...costs),
    ratio: Math.min(...costs) / Math.min(...servers[0].costs),
    rss: residentBytes(processes[0].pid),
  }));
  for (const { processes } of servers) for (const child of processes) await stop(child);
  return rows;
}

const origin = await startNginx('origin', originLocation);
const runs = new Map(subjects.map(({ name }) => [name, []]));
for (let round = 1; round <= rounds && only !== 'recording'; round++) {
  for (const subject of subjects) {
    process.stderr.write(`round ${round} of ${rounds}: ${subject.name}\n`);
    runs.get(subject.name).push(await runSubject(subject, origin.port));
  }
}
const recorded = only === 'hosts' ? [] : await recordedRounds(origin.port);
await stopAll();
rmSync(folder, { recursive: true, force: true });

const micros = (result, index) => ((result.cpus[index] ?? Number.NaN) * 1e6) / result.requests;
const number = (title, read, digits = 0) => [title, (row) => figure(row.of(read), digits)];
console.log(
  `\nMedian of ${rounds} rounds, ${seconds} s each, ${CONNECTIONS} connections (h2: 4 with 16 streams), answers of 1 KiB, ${os.cpus().length} cores, Node ${process.version}, ${loadLine()}.\n`,
);
if (only !== 'recording') {
  printTable(
    'hosts',
    [
      ['subject', (row) => row.name],
      number('req/s', (result) => result.requests / result.seconds),
      number('server CPU µs/req', (result) => micros(result, 0), 1),
      number('req/s per core', (result) => 1e6 / micros(result, 0)),
      number('agent CPU µs/req', (result) => micros(result, 1), 1),
      number('p50 ms', (result) => result.p50, 2),
      number('p99 ms', (result) => result.p99, 2),
      number('p99 ms at 70 %, even', (result) => result.even, 2),
      number('in bursts', (result) => result.burst, 2),
      number('RSS MB', (result) => result.rss / 1e6),
    ],
    subjects.map(({ name }) => ({ name, of: (read) => median(runs.get(name).map(read)) })),
  );
}
if (only !== 'hosts') {
  printTable(
    'recording',
    [
      ['record_requests', (row) => row.name],
      ['server CPU µs/req', (row) => figure(row.cost, 1)],
      ['least', (row) => figure(row.least, 1)],
      ['least beside off', (row) => figure(row.ratio, 3)],
      ['recorder alone, µs/req', (row) => figure(recorderAlone(row.name), 2)],
      ['RSS MB', (row) => figure(row.rss / 1e6, 0)],
    ],
    recorded,
  );
}
