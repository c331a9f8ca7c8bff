// npm run bench -- tunnel [rounds] [seconds]
//
// The tunnel, plain and sealed, beside raw loopback and one plain Node relay.
// Server and agent are processes of their own, measured together and apart; every subject runs in every round against the
// same target and the same load, in every other round the other way round. `of raw` is throughput against raw loopback in
// the same round.
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { EDGE_FLAGS } from '../../apps/tunnel-gateway/dist/edge-supervisor/fork-edge.js';
import { cpuSeconds, residentBytes, startScript, stop, stopAll } from './processes.mjs';
import { figure, inTurn, loadLine, median, printTable } from './table.mjs';
import { printDatagrams } from './tunnel/datagrams.mjs';
import { printRates, printRules } from './tunnel/limits.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 2);
const GB = 1e9;

async function startTunnel(target, encrypt, rateLimit = 0) {
  const server = await startScript(here('tunnel/server.mjs'), [String(target), encrypt, String(rateLimit)], {
    execArgv: EDGE_FLAGS,
  });
  const { door, port, key } = server.first;
  const agent = await startScript(here('tunnel/agent.mjs'), [String(door), key]);
  return { entry: port, processes: [server.child, agent.child] };
}

const subjects = [
  { name: 'raw loopback', start: async (target) => ({ entry: target, processes: [] }) },
  {
    name: 'plain Node relay (one hop)',
    start: async (target) => {
      const { child, first } = await startScript(here('relay/plain-relay.mjs'), [String(target)]);
      return { entry: first.port, processes: [child] };
    },
  },
  { name: 'gatehouse plain', start: (target) => startTunnel(target, 'plain') },
  { name: 'gatehouse sealed', start: (target) => startTunnel(target, 'tls') },
];

async function ask(load, mode, options) {
  load.send({ mode, options });
  const message = await new Promise((resolve) => load.once('message', resolve));
  if (message.error) throw new Error(message.error);
  return message.result;
}

/** Runs one load and adds what CPU time each process of the subject spent on it. */
async function measure(processes, load, mode, options) {
  const before = processes.map(({ pid }) => cpuSeconds(pid));
  const result = await ask(load, mode, options);
  const cpus = processes.map(({ pid }, index) => cpuSeconds(pid) - before[index]);
  return { ...result, cpus, cpu: cpus.reduce((sum, cpu) => sum + cpu, 0) };
}

async function runSubject(subject, target, load) {
  const { entry, processes } = await subject.start(target);
  const route = { entry, target, socks: false };
  await ask(load, 'requests', { ...route, seconds: 0.3, concurrency: 4, size: 64 }); // warm up
  await ask(load, 'throughput', { ...route, direction: 'down', seconds: 0.5, streams: 1 });
  const down = await measure(processes, load, 'throughput', { ...route, direction: 'down', seconds, streams: 1 });
  const up = await measure(processes, load, 'throughput', { ...route, direction: 'up', seconds, streams: 1 });
  const many = await measure(processes, load, 'throughput', { ...route, direction: 'down', seconds, streams: 8 });
  const one = await measure(processes, load, 'requests', { ...route, seconds, concurrency: 1, size: 64 });
  const small = await measure(processes, load, 'requests', { ...route, seconds, concurrency: 16, size: 64 });
  const fresh = await measure(processes, load, 'connections', { ...route, seconds, concurrency: 16 });
  const rss = processes.map(({ pid }) => residentBytes(pid));
  for (const child of processes) await stop(child);
  return { down, up, many, one, small, fresh, rss };
}

const rate = (run) => run.bytes / run.seconds / GB;
const perGb = (run, index) => (index === undefined ? run.cpu : run.cpus[index]) / (run.bytes / GB);
const number = (title, read, digits = 2) => [title, (row) => figure(row.of(read), digits)];
const columns = [
  ['subject', (row) => row.name],
  number('GB/s down', (run) => rate(run.down)),
  number('down of raw', (run) => rate(run.down) / rate(run.raw.down)),
  number('GB/s up', (run) => rate(run.up)),
  number('up of raw', (run) => rate(run.up) / rate(run.raw.up)),
  number('GB/s 8 streams', (run) => rate(run.many)),
  number('CPU s/GB down', (run) => perGb(run.down)),
  number('server down', (run) => perGb(run.down, 0)),
  number('CPU s/GB up', (run) => perGb(run.up)),
  number('server up', (run) => perGb(run.up, 0)),
  number('p50 µs', (run) => run.one.p50, 0),
  number('req/s', (run) => run.small.count / run.small.seconds, 0),
  number('conn/s', (run) => run.fresh.count / run.fresh.seconds, 0),
  number('p99 µs', (run) => run.fresh.p99, 0),
  number('CPU µs/conn', (run) => (run.fresh.cpu * 1e6) / run.fresh.count, 0),
  number('RSS MB server', (run) => run.rss[0] / 1e6, 0),
];

const target = (await startScript(here('relay/target.mjs'))).first.port;
const load = (await startScript(here('relay/load.mjs'))).child;
const runs = new Map(subjects.map(({ name }) => [name, []]));
for (let round = 1; round <= rounds; round++) {
  const inRound = new Map();
  for (const subject of inTurn(subjects, round)) {
    process.stderr.write(`round ${round} of ${rounds}: ${subject.name}\n`);
    inRound.set(subject.name, await runSubject(subject, target, load));
  }
  const raw = inRound.get('raw loopback');
  for (const [name, run] of inRound) runs.get(name).push({ ...run, raw });
}

/** Through a tunnel of its own, once the burst is gone. */
async function limited(rateLimit, runSeconds, warmSeconds, streams) {
  const { entry, processes } = await startTunnel(target, 'plain', rateLimit);
  const options = { entry, target, socks: false, direction: 'down', streams };
  await ask(load, 'throughput', { ...options, seconds: warmSeconds });
  const result = await measure(processes, load, 'throughput', { ...options, seconds: runSeconds });
  for (const child of processes) await stop(child);
  return result;
}
console.log(
  `\nMedian of ${rounds} rounds, ${seconds} s a figure, ${os.cpus().length} cores, Node ${process.version}, ${loadLine()}.`,
);
console.log('CPU of the subject alone: server and agent together, and of the server.\n');
printTable(
  'tcp',
  columns,
  subjects.map(({ name }) => ({ name, of: (read) => median(runs.get(name).map(read)) })),
);
printRules();
await printRates(limited);
await printDatagrams(rounds, seconds);
await stopAll();
