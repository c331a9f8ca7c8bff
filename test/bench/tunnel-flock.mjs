// npm run bench -- tunnel-flock [agents for memory] [agents to be cut]
//
// Many agents of one server: its memory for each that nobody visits, and when all are back that were cut at once.
// The agents are real, many in a process. Memory is looked at after a collection, less what the server had before they
// came; beside it a TLS server of Node that does nothing with as many connections: the difference is beyond the socket.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, startScript, stop, stopAll } from './processes.mjs';
import { figure, loadLine, printTable, quantile } from './table.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const many = Number(process.argv[2] ?? 10_000);
const cut = Number(process.argv[3] ?? 1_000);
/** Agents of one process. */
const FLOCK = 2_500;
const PATIENCE_MS = 300_000;
const KIB = 1024;
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-flock-'));

async function startFlocks({ door, keys, bare }) {
  const flocks = [];
  for (let at = 0; at < keys.length; at += FLOCK) {
    const file = path.join(folder, `${door}-${at}.json`);
    writeFileSync(file, JSON.stringify({ door, bare, keys: keys.slice(at, at + FLOCK) }), { mode: 0o600 });
    const { child } = await startScript(here('tunnel/flock.mjs'), [file]);
    const flock = { child, online: 0, arrivals: [] };
    child.on('message', ({ online, arrivals }) => {
      flock.online = online;
      flock.arrivals.push(...arrivals);
    });
    flocks.push(flock);
  }
  return flocks;
}

const online = (flocks) => flocks.reduce((sum, flock) => sum + flock.online, 0);

async function until(what, holds) {
  const from = Date.now();
  while (!holds()) {
    if (Date.now() - from > PATIENCE_MS) throw new Error(`not within ${PATIENCE_MS} ms: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function look(server) {
  server.child.send('look');
  return (await once(server.child, 'message'))[0];
}

/** Memory of a server for each of `many` that do nothing. */
async function memory(kind) {
  const server = await startScript(here('tunnel/flock-server.mjs'), [String(many), kind]);
  const before = await look(server);
  const flocks = await startFlocks(server.first);
  await until(
    () => `${online(flocks)} of ${many} online`,
    () => online(flocks) === many,
  );
  // What greeting them left behind is gone.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const after = await look(server);
  if (after.size !== many) throw new Error(`${after.size} of ${many} are there`);
  for (const { child } of [...flocks, server]) await stop(child);
  const each = (name) => (after[name] - before[name]) / many / KIB;
  return { kind, rss: each('rss'), heap: each('heapUsed'), external: each('external'), server: after.rss };
}

/** When each of `cut` agents was back, milliseconds after all of their connections were reset at once. */
async function storm() {
  const server = await startScript(here('tunnel/flock-server.mjs'), [String(cut), 'tunnel']);
  const line = await startScript(here('tunnel/cut-line.mjs'), [String(server.first.door)]);
  const flocks = await startFlocks({ ...server.first, door: line.first.port });
  await until(
    () => `${online(flocks)} of ${cut} online`,
    () => online(flocks) === cut,
  );
  await new Promise((resolve) => setTimeout(resolve, 1000));
  for (const flock of flocks) flock.arrivals = [];
  const cpu = cpuSeconds(server.child.pid);
  const from = Date.now();
  line.child.send('cut');
  const back = () => flocks.flatMap(({ arrivals }) => arrivals);
  await until(
    () => `${back().length} of ${cut} back`,
    () => back().length >= cut && online(flocks) === cut,
  );
  const times = back().map((at) => at - from);
  const spent = cpuSeconds(server.child.pid) - cpu;
  for (const { child } of [...flocks, line, server]) await stop(child);
  return { times, spent };
}

const bare = await memory('bare');
const tunnel = await memory('tunnel');
const { times, spent } = await storm();
await stopAll();
rmSync(folder, { recursive: true, force: true });

console.log(
  `\n${many} agents that nobody visits, KiB of the server for each, Node ${process.version}, ${loadLine()}.\n`,
);
printTable(
  'memory',
  [
    ['server', ({ name }) => name],
    ['resident', ({ rss }) => figure(rss, 1)],
    ['heap', ({ heap }) => figure(heap, 1)],
    ['external', ({ external }) => figure(external, 1)],
    ['process MB', ({ server }) => (server === null ? '–' : figure(server / 1e6, 0))],
  ],
  [
    { name: 'TLS of Node, nothing else', ...bare },
    { name: 'tunnel', ...tunnel },
    {
      name: 'beyond the socket',
      rss: tunnel.rss - bare.rss,
      heap: tunnel.heap - bare.heap,
      external: tunnel.external - bare.external,
      server: null,
    },
  ],
);
const seconds = (share) => figure(quantile(times, share) / 1000, 2);
console.log('\nConnections that are all reset at once, until their agents are back.\n');
printTable(
  'reconnects',
  [
    ['agents', () => cut.toLocaleString('en-US')],
    ['half are back, s', () => seconds(0.5)],
    ['99 %, s', () => seconds(0.99)],
    ['all, s', () => seconds(1)],
    ['CPU s of the server', () => figure(spent)],
  ],
  [{}],
);
