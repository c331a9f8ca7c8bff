// The management API at scale: 10,000 nodes, 5,000 open connections, tests of 1,000 nodes, and what a small read costs
// npm run bench -- api [nodes|publications|dashboard|small|dead|live ...]
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openConnections } from './api/open-connections.mjs';
import { cpuSeconds, ownCpuMicroseconds, startScript, stop, stopAll } from './processes.mjs';
import { startProxyGateway } from './services/proxy-gateway.mjs';
import { loadLine, median, printTable, quantile } from './table.mjs';

const NODES = 10_000;
const CONNECTIONS = 5_000;
const TESTED = 1_000;
const script = (name) => fileURLToPath(new URL(`./api/${name}.mjs`, import.meta.url));
const wanted = process.argv.slice(2);
const asked = (part) => wanted.length === 0 || wanted.includes(part);
const scratch = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-api-'));

let body = '';
const provider = http.createServer((_request, response) => response.end(body)).listen(0, '127.0.0.1');
await once(provider, 'listening');
const { first: ports } = await startScript(script('loopback'));
const gateway = await startProxyGateway({ API_RATE_LIMIT: '1000000' });
const token = (await gateway.call('POST', '/auth/login', { password: gateway.password })).token;
let subscription;
let failures = 0;

try {
  await gateway.call('PUT', '/settings', {
    'health.interval_sec': '86400',
    'health.url': `http://127.0.0.1:${ports.origin}/generate_204`,
  });
  if (asked('nodes') || asked('publications') || asked('dashboard')) {
    await setNodes(Array.from({ length: NODES }, (_, i) => distantNode(i)));
    if (asked('nodes')) await benchNodes();
    if (asked('publications')) await benchPublications();
    if (asked('dashboard')) await benchDashboard();
  }
  if (asked('small')) await benchSmallReads();
  if (asked('dead')) await benchDead();
  if (asked('live')) await benchLive();
} finally {
  await gateway.end();
  await stopAll();
  provider.close();
  rmSync(scratch, { recursive: true, force: true });
}
if (failures > 0) console.log(`${failures} figures miss their target`);
process.exit(failures > 0 ? 1 : 0);

async function benchNodes() {
  const rows = [];
  for (const query of [
    'limit=500',
    'limit=500&offset=9500',
    'limit=500&sort=-delay',
    'limit=50',
    'limit=500&search=Kong',
  ]) {
    rows.push(await timed(`/proxies?${query}`, 200));
  }
  show('pages', `${NODES} nodes`, rows, { p99: 30 });
}

/** One client after another fetches the same publication, with and without what it fetched last. */
async function benchPublications() {
  const { path: address } = await gateway.call('POST', '/publications', { name: 'bench', template: 'countries' });
  const rows = [];
  for (const target of ['clash', 'sing-box', 'base64']) {
    const route = `${address.replace('/api/v1', '')}?target=${target}`;
    const { headers } = await fetch(`${gateway.base}/api/v1${route}`);
    const named = (note) => (row) => ({ ...row, what: `GET /sub/{token}?target=${target}${note}` });
    rows.push(await timed(route, 20).then(named('')));
    const known = { 'if-none-match': headers.get('etag') };
    rows.push(await timed(route, 20, '', known).then(named(', 304')));
  }
  show('publications', `a publication of ${NODES} nodes`, rows);
}

async function benchDashboard() {
  const rows = [await timed('/dashboard', 100, 'no connection')];
  const { connections } = await openConnections(gateway, { port: ports.echo, count: CONNECTIONS });
  rows.push(await timed('/dashboard', 200, `${CONNECTIONS} connections`));
  rows.push(await timed('/connections?limit=50', 100, `${CONNECTIONS} connections`));
  rows.push(await timed('/connections', 30, `${CONNECTIONS} connections`));
  await stop(connections);
  show('dashboard', `${CONNECTIONS} open connections through the kernel, ${NODES} nodes`, rows.slice(0, 2), {
    p99: 100,
  });
  show('connections', 'the list of them', rows.slice(2));
}

/** CPU of the service alone, for the same requests to it and to a bare Nest route with the same answer, in turns. */
async function benchSmallReads() {
  const { key } = await gateway.call('POST', '/api-keys', { name: 'bench', scopes: ['read'] });
  /** @type {[string, Record<string, string>][]} */
  const credentials = [
    ['token', { authorization: `Bearer ${token}` }],
    ['API key', { 'x-api-key': key }],
  ];
  const rows = [];
  for (const route of ['/settings', '/outbound?members=false', '/proxies?limit=1']) {
    const answer = await fetchJson(`/api/v1${route}`, credentials[0][1]);
    if (answer === null) continue;
    const file = path.join(scratch, 'answer.json');
    writeFileSync(file, answer);
    const { child: bare, first } = await startScript(script('bare-nest'), [file]);
    const bareUrl = `http://127.0.0.1:${first.port}/answer`;
    const url = `${gateway.base}/api/v1${route}`;
    const figures = [];
    // The first round warms up.
    for (let round = 0; round < 6; round++) {
      const costs = [await cpuOf(bare.pid, bareUrl, {})];
      for (const [, headers] of credentials) costs.push(await cpuOf(gateway.pid, url, headers));
      if (round > 0) figures.push(costs);
    }
    await stop(bare);
    const cost = (column) => median(figures.map((costs) => costs[column]));
    credentials.forEach(([what], index) =>
      rows.push({ what: `${route}, ${what}`, bytes: answer.length, bare: cost(0), own: cost(index + 1) }),
    );
  }
  console.log(`\nSmall authenticated reads, CPU µs of Node a request; ${loadLine()}`);
  printTable(
    'small-reads',
    [
      ['read', ({ what }) => what],
      ['bytes', ({ bytes }) => bytes],
      ['bare Nest', ({ bare }) => bare.toFixed(0)],
      ['gatehouse', ({ own }) => own.toFixed(0)],
      ['above', ({ own, bare }) => (own - bare).toFixed(0)],
      ['ratio', ({ own, bare }) => (own / bare).toFixed(2)],
    ],
    rows,
  );
  failures += rows.filter(({ what, own, bare }) => own - bare > (what.startsWith('/settings') ? 60 : 250)).length;
}

async function fetchJson(route, headers) {
  const response = await fetch(`${gateway.base}${route}`, { headers });
  const text = await response.text();
  return response.ok ? text : null;
}

async function cpuOf(pid, url, headers, requests = 3_000) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const began = ownCpuMicroseconds(pid);
  let left = requests;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (left-- > 0) await get(url, headers, agent);
    }),
  );
  const used = ownCpuMicroseconds(pid) - began;
  agent.destroy();
  return used / requests;
}

function get(url, headers, agent) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers, agent }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === (headers['if-none-match'] ? 304 : 200)) resolve();
        else reject(new Error(`${url} answered ${response.statusCode}`));
      });
    });
    request.on('error', reject);
  });
}

async function benchDead() {
  const { child: deaf, first } = await startScript(script('deaf'));
  const kinds = [
    ['all refuse', () => ports.closed, 40],
    ['all silent', () => ports.silent, 40],
    ['all dropped', () => first.port, 40],
    ['a third of each', (i) => [ports.closed, ports.silent, first.port][i % 3], 40],
  ];
  await benchTests(
    'dead-nodes',
    kinds.map(([what, port, target]) => [what, (i) => socksNode(i, port(i)), target]),
  );
  deaf.kill('SIGCONT');
  await stop(deaf);
}

async function benchLive() {
  await benchTests('live-nodes', [
    ['live, an address each', (i) => socksNode(i, ports.socks), 5],
    [
      'live, all on one address',
      (i) => ({ ...socksNode(i, ports.socks), server: '127.0.0.1', user: `u${i}:p@` }),
      null,
    ],
  ]);
}

async function benchTests(name, kinds) {
  const rows = [];
  for (const [what, node, target] of kinds) {
    await setNodes(Array.from({ length: TESTED }, (_, i) => node(i)));
    const cpu = cpuSeconds(gateway.pid);
    const began = performance.now();
    let job = await gateway.call('POST', '/proxies/test-all');
    while (job.status === 'queued' || job.status === 'running') {
      await new Promise((resolve) => setTimeout(resolve, 50));
      job = await gateway.call('GET', `/jobs/${job.job_id}`);
    }
    const seconds = (performance.now() - began) / 1_000;
    const { progress } = job;
    if (target !== null && seconds > target) failures++;
    rows.push({ what, seconds, target, cpu: cpuSeconds(gateway.pid) - cpu, progress });
  }
  console.log(`\nTesting ${TESTED} nodes; ${loadLine()}`);
  printTable(
    name,
    [
      ['nodes', ({ what }) => what],
      ['s', ({ seconds }) => seconds.toFixed(1)],
      ['target', ({ target }) => (target === null ? '' : `< ${target}`)],
      ['CPU s', ({ cpu }) => cpu.toFixed(1)],
      ['ok', ({ progress }) => progress.ok],
      ['failed', ({ progress }) => progress.failed],
      ['at once', ({ progress }) => progress.concurrency],
    ],
    rows,
  );
}

async function timed(route, rounds, note = '', more = {}) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${token}`, ...more };
  const times = [];
  let cpu = 0;
  for (let round = -10; round < rounds; round++) {
    if (round === 0) cpu = ownCpuMicroseconds(gateway.pid);
    const began = performance.now();
    await get(`${gateway.base}/api/v1${route}`, headers, agent);
    if (round >= 0) times.push(performance.now() - began);
  }
  agent.destroy();
  cpu = (ownCpuMicroseconds(gateway.pid) - cpu) / rounds / 1_000;
  return { what: `GET ${route}${note === '' ? '' : `, ${note}`}`, times, cpu };
}

function show(name, title, rows, { p99 } = {}) {
  console.log(`\n${title}; ${loadLine()}`);
  printTable(
    name,
    [
      ['request', ({ what }) => what],
      ['p50 ms', ({ times }) => quantile(times, 0.5).toFixed(1)],
      ['p99 ms', ({ times }) => quantile(times, 0.99).toFixed(1)],
      ['worst ms', ({ times }) => Math.max(...times).toFixed(1)],
      ['CPU ms of the service', ({ cpu }) => cpu.toFixed(1)],
      ['target p99', () => (p99 === undefined ? '' : `< ${p99}`)],
    ],
    rows,
  );
  if (p99 !== undefined) failures += rows.filter(({ times }) => quantile(times, 0.99) > p99).length;
}

/** Makes these links the nodes there are, all others gone. */
async function setNodes(nodes) {
  body = nodes
    .map(({ user = '', server, port, name }) => `socks5://${user}${server}:${port}#${encodeURIComponent(name)}`)
    .join('\n');
  if (subscription === undefined) {
    const created = await gateway.call('POST', '/subscriptions', {
      name: 'bench',
      url: `http://127.0.0.1:${provider.address().port}/`,
      type: 'auto',
      interval_sec: 86_400,
      enabled: false,
      allow_private: true,
    });
    subscription = created.id;
  }
  const refreshed = await gateway.call('POST', `/subscriptions/${subscription}/refresh?force=true`);
  const { total } = await gateway.call('GET', '/proxies?limit=1');
  if (total !== nodes.length)
    throw new Error(`${total} nodes instead of ${nodes.length}: ${JSON.stringify(refreshed)}`);
}

function distantNode(i) {
  return { server: `198.51.${i % 250}.${(i >> 3) % 250}`, port: 10_000 + i, name: `Hong Kong ${i}` };
}

function socksNode(i, port) {
  return { server: `127.20.${i >> 8}.${i & 255}`, port, name: `local ${i}` };
}
