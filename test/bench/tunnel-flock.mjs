// npm run bench -- tunnel-flock [agents for memory] [agents to be cut] [agents of three edges]
//
// Many agents of one server: its memory for each that nobody visits, and when all are back that were cut at once. Then agents
// with two connections each at three edges: memory for each connection, and when all have two again after an edge is killed.
// The agents are real, many in a process. Memory is looked at after a collection, less what the server had before they
// came; beside it a TLS server of Node that does nothing with as many connections: the difference is beyond the socket.
import { cpuSeconds, startScript, stop, stopAll } from './processes.mjs';
import { flockAtEdges } from './tunnel/flock-edges.mjs';
import { here, look, online, startFlocks, until } from './tunnel/flocks.mjs';
import { figure, loadLine, printTable, quantile } from './table.mjs';

const many = Number(process.argv[2] ?? 10_000);
const cut = Number(process.argv[3] ?? 1_000);
const spread = Number(process.argv[4] ?? 10_000);
const KIB = 1024;

/** Memory of a server for each of `many` that do nothing. */
async function memory(kind) {
  const server = await startScript(here('flock-server.mjs'), [String(many), kind]);
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
  const server = await startScript(here('flock-server.mjs'), [String(cut), 'tunnel']);
  const line = await startScript(here('cut-line.mjs'), [String(server.first.door)]);
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
const atEdges = await flockAtEdges(spread, bare.rss);
await stopAll();

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
console.log(`\n${spread} agents with two connections each at three edges, and one of the edges is killed.\n`);
printTable(
  'edges',
  [
    ['agents', () => spread.toLocaleString('en-US')],
    ['connections', ({ connections }) => connections.toLocaleString('en-US')],
    ['KiB for each', ({ each }) => figure(each, 1)],
    ['KiB beyond the socket', ({ beyond }) => figure(beyond, 1)],
    ['connections lost', ({ lost }) => lost.toLocaleString('en-US')],
    ['agents offline', ({ offline }) => String(offline)],
    ['half are back, s', ({ backTimes }) => figure(backTimes.half, 1)],
    ['all, s', ({ backTimes }) => figure(backTimes.all, 1)],
    ['CPU s of the edges', ({ cpu }) => figure(cpu.edges, 1)],
    ['CPU s of the agents', ({ cpu }) => figure(cpu.agents, 1)],
  ],
  [atEdges],
);
