// UDP through the tunnel: as packets and over lanes, beside a socket that sends to another.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EDGE_FLAGS } from '../../../apps/tunnel-gateway/dist/edge-supervisor/fork-edge.js';
import { cpuSeconds, startScript, stop } from '../processes.mjs';
import { figure, inTurn, median, printTable } from '../table.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const SIZES = [64, 1200, 9000];

async function startTunnel(target, encrypt, lanes) {
  const server = await startScript(here('server.mjs'), [String(target), encrypt, '0', 'udp', lanes], {
    execArgv: EDGE_FLAGS,
  });
  const { door, port, key } = server.first;
  const agent = await startScript(here('agent.mjs'), [String(door), key, lanes]);
  for (let wanted = lanes !== 'lanes'; wanted;) {
    server.child.send('state');
    const [{ packets }] = await once(server.child, 'message');
    wanted = !packets;
  }
  return { entry: port, processes: [server.child, agent.child] };
}

const subjects = [
  { name: 'raw loopback', start: async (target) => ({ entry: target, processes: [] }) },
  { name: 'packets (AES-256-GCM)', start: (target) => startTunnel(target, 'plain', 'packets') },
  { name: 'as it comes, agent nearby', start: (target) => startTunnel(target, 'tls', 'near') },
  { name: 'lanes plain', start: (target) => startTunnel(target, 'plain', 'lanes') },
  { name: 'lanes sealed', start: (target) => startTunnel(target, 'tls', 'lanes') },
];

async function ask(load, options) {
  load.send(options);
  const [result] = await once(load, 'message');
  return result;
}

async function runSubject(subject, target, load, seconds) {
  const { entry, processes } = await subject.start(target);
  await ask(load, { entry, size: 64, seconds: 0.5, window: 64 });
  const run = {};
  for (const size of SIZES) {
    const before = processes.map(({ pid }) => cpuSeconds(pid));
    const result = await ask(load, { entry, size, seconds, window: size > 1200 ? 64 : 256 });
    const cpus = processes.map(({ pid }, index) => cpuSeconds(pid) - before[index]);
    run[size] = { ...result, seconds, cpus };
  }
  run.one = await ask(load, { entry, size: 64, seconds, window: 1 });
  for (const child of processes) await stop(child);
  return run;
}

const perDatagram = (run, index) => (run.cpus[index] * 1e6) / run.arrived;
const number = (title, read, digits = 0) => [title, (row) => figure(row.of(read), digits)];
const columns = [
  ['subject', (row) => row.name],
  ...SIZES.flatMap((size) => [
    number(`${size} B: k/s`, (run) => run[size].arrived / run[size].seconds / 1000, 1),
    number(`${size} B: Mbit/s`, (run) => (run[size].arrived * size * 8) / run[size].seconds / 1e6),
    number(`${size} B: CPU µs server`, (run) => perDatagram(run[size], 0), 1),
    number(`${size} B: agent`, (run) => perDatagram(run[size], 1), 1),
    number(`${size} B: lost %`, (run) => (run[size].lost * 100) / (run[size].arrived + run[size].lost), 2),
  ]),
  number('p50 µs', (run) => run.one.p50),
];

/** One visitor sends, as many as arrive are on their way; each is counted once, on its way to the target. */
export async function printDatagrams(rounds, seconds) {
  const { child: load, first } = await startScript(here('datagram-load.mjs'));
  const runs = new Map(subjects.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const subject of inTurn(subjects, round)) {
      process.stderr.write(`datagrams, round ${round} of ${rounds}: ${subject.name}\n`);
      runs.get(subject.name).push(await runSubject(subject, first.port, load, seconds));
    }
  }
  console.log('\nUDP, one visitor, from the visitor to the target; p50: one datagram at a time, one way.\n');
  printTable(
    'datagrams',
    columns,
    subjects.map(({ name }) => ({ name, of: (read) => median(runs.get(name).map(read)) })),
  );
}
