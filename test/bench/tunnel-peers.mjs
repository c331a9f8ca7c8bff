// npm run bench -- tunnel-peers [rounds] [seconds] [names, with commas] [parts: tcp,connections,udp,line]
//
// The tunnel beside frp, rathole, chisel, nps and ssh -R in one run.
// Each subject is a server and a client, two processes on the loopback, before the same iperf3 and nginx; every subject
// runs in every round, in every other one the other way round, so that nobody is always the first. CPU is of both
// processes together, user and system; on the loopback the system's work for who receives is done by who sends. `of raw`
// is against raw loopback in the same round. The long line is one in user space between client and server, 100 ms there
// and back.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
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
import { startGatehouse } from './tunnel/gatehouse.mjs';
import { DATAGRAM_BYTES, iperf, iperfDatagrams, wrkConnections } from './tunnel/loads.mjs';
import { PEERS } from './tunnel/peers.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const rounds = Number(process.argv[2] ?? 2);
const seconds = Number(process.argv[3] ?? 3);
const wanted = process.argv[4]?.split(',').filter(Boolean) ?? [];
const parts = new Set(process.argv[5]?.split(',') ?? ['tcp', 'connections', 'udp', 'line']);
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-tunnels-'));
// sshd may have to run as `nobody`.
chmodSync(folder, 0o711);
const LINE_MS = 50;
const LINE_MEGABITS = 1000;
const LINE_SECONDS = 6;
/** Datagrams as fast as they go are not the only question: until where does nothing get lost, and at what cost? */
const UDP_MEGABITS = [50, 200, 400];
const FLOOD = 0;

const known = [
  { name: 'gatehouse, plain', needs: [], start: (on) => startGatehouse(on, { encrypt: false }) },
  { name: 'gatehouse, sealed', needs: [], start: (on) => startGatehouse(on, { encrypt: true }) },
  // On the loopback every agent is near, so that datagrams take data channels: this row has packets, as one far away.
  {
    name: 'gatehouse, packets',
    only: 'udp',
    needs: [],
    start: (on) => startGatehouse(on, { encrypt: true, near: false }),
  },
  ...PEERS,
];
const absent = known.filter(({ needs }) => needs.some((name) => !findPeer(name)));
const subjects = known.filter(
  (subject) =>
    !absent.includes(subject) && (wanted.length === 0 || wanted.some((name) => subject.name.startsWith(name))),
);

async function startNginx() {
  const port = await freePort();
  const file = path.join(folder, 'nginx.conf');
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const body = 'x'.repeat(612);
  writeFileSync(
    file,
    `${process.getuid() === 0 ? 'user root;' : ''} daemon off; pid ${folder}/nginx.pid; worker_processes 1;
events { worker_connections 4096; }
http { access_log off; ${temp.join(' ')}
server { listen 127.0.0.1:${port} backlog=4096; location / { default_type text/plain; return 200 "${body}"; } } }`,
  );
  await startProgram(requirePeer('nginx'), ['-p', folder, '-e', path.join(folder, 'nginx.log'), '-c', file], port);
  return port;
}

async function startTargets() {
  const echo = (await startScript(here('relay/target.mjs'))).first.port;
  return { iperf: await freePort(), http: await startNginx(), echo };
}

/** The most memory that each process had, looked at each second. */
function watchMemory(processes) {
  const most = processes.map(() => 0);
  const look = () => {
    for (const [index, { pid }] of processes.entries()) most[index] = Math.max(most[index], residentBytes(pid));
  };
  const timer = setInterval(look, 1000);
  return () => {
    clearInterval(timer);
    look();
    return most;
  };
}

/** Runs a load of iperf3 with a server of its own: what is left of one load on its way would be taken for the next. */
async function withIperf(work) {
  const port = targets.iperf;
  const { child } = await startProgram(
    requirePeer('iperf3'),
    ['-s', '-J', '-B', '127.0.0.1', '-p', String(port)],
    port,
  );
  try {
    return await work();
  } finally {
    await stop(child);
  }
}

/** What a load measured and the CPU time of the processes meanwhile; null where it does not get through. */
async function measure(name, processes, work) {
  const before = processes.map(({ pid }) => cpuSeconds(pid));
  try {
    const result = await work();
    const cpus = processes.map(({ pid }, index) => cpuSeconds(pid) - before[index]);
    return { ...result, cpus, cpu: cpus.reduce((sum, cpu) => sum + cpu, 0) };
  } catch (error) {
    process.stderr.write(`  ${name}: ${error.message}\n`);
    return null;
  }
}

function roundTrips(load, entry) {
  load.send({ mode: 'requests', options: { entry, target: 0, socks: false, seconds: 2, concurrency: 1, size: 1 } });
  return new Promise((resolve, reject) => {
    load.once('message', ({ result, error }) => (error ? reject(new Error(error)) : resolve(result)));
  });
}

async function runLoads(at, processes, load, { udp = true, only } = {}) {
  const run = {};
  const wants = (part) => parts.has(part) && (only === undefined || only === part);
  const take = async (name, work) => (run[name] = await measure(name, processes, work));
  const carry = (name, work) => withIperf(() => take(name, work));
  if (wants('tcp')) {
    await carry('warm', () => iperf(at.iperf, { seconds: 1, down: true }));
    await carry('down', () => iperf(at.iperf, { seconds, down: true }));
    await carry('up', () => iperf(at.iperf, { seconds }));
    await carry('many', () => iperf(at.iperf, { seconds, down: true, streams: 8 }));
  }
  if (wants('connections')) {
    await wrkConnections(at.http, { seconds: 1 }); // warm up
    await take('fresh', () => wrkConnections(at.http, { seconds }));
    await take('one', () => roundTrips(load, at.echo));
  }
  if (udp && wants('udp')) {
    await carry('warm', () => iperfDatagrams(at.iperf, { seconds: 1, megabits: 100 }));
    for (const megabits of [...UDP_MEGABITS, FLOOD]) {
      await carry(`udp${megabits}`, () => iperfDatagrams(at.iperf, { seconds, megabits }));
    }
  }
  return run;
}

async function place(targets, udp) {
  const at = { iperf: await freePort(), http: await freePort(), echo: await freePort() };
  const forwards = Object.entries(at).map(([name, entry]) => ({ name, entry, target: targets[name] }));
  // iperf3 agrees over TCP about what it sends over UDP.
  if (udp) forwards.push({ name: 'datagrams', entry: at.iperf, target: targets.iperf, udp: true });
  return { at, forwards };
}

async function runSubject(subject, targets, load) {
  const { start, udp = true } = subject;
  const { at, forwards } = await place(targets, udp);
  const processes = await start({ forwards, folder: mkdtempSync(path.join(folder, 'subject-')), via: (port) => port });
  const memory = watchMemory(processes);
  const run = await runLoads(at, processes, load, subject);
  run.rss = memory();
  for (const child of processes) await stop(child);
  return run;
}

/** Resolves to the port of a long line that leads to `port`. */
async function startLine(port, lines) {
  const { child, first } = await startScript(here('tunnel/delay-line.mjs'), [port, LINE_MS, LINE_MEGABITS].map(String));
  lines.push(child);
  return first.port;
}

async function overLine(entry, run) {
  const take = (name, down) => measure(name, [], () => iperf(entry, { seconds: LINE_SECONDS, down }));
  run.farDown = await withIperf(() => take('down over the line', true));
  run.farUp = await withIperf(() => take('up over the line', false));
}

async function runFar({ start, only }, targets, run) {
  if (!parts.has('line') || only) return;
  const lines = [];
  const { at, forwards } = await place(targets, false);
  const via = (port) => startLine(port, lines);
  const processes = await start({ forwards, folder: mkdtempSync(path.join(folder, 'subject-')), via });
  // What looked whether it has started is on its way yet; iperf3 would take it for its client.
  await new Promise((resolve) => setTimeout(resolve, 10 * LINE_MS));
  await overLine(at.iperf, run);
  for (const child of [...processes, ...lines]) await stop(child);
}

async function runRaw(targets, load) {
  const run = await runLoads(targets, [], load);
  const lines = [];
  if (parts.has('line')) await overLine(await startLine(targets.iperf, lines), run);
  for (const child of lines) await stop(child);
  return { ...run, rss: [] };
}

const targets = await startTargets();
const load = (await startScript(here('relay/load.mjs'))).child;
const RAW = { name: 'raw loopback' };
const all = [RAW, ...subjects];
const runs = new Map(all.map(({ name }) => [name, []]));

async function runOne(subject) {
  if (subject === RAW) return runRaw(targets, load);
  const run = await runSubject(subject, targets, load);
  await runFar(subject, targets, run);
  return run;
}

for (let round = 1; round <= rounds; round++) {
  const inRound = new Map();
  for (const subject of inTurn(all, round)) {
    process.stderr.write(`round ${round} of ${rounds}: ${subject.name}\n`);
    try {
      inRound.set(subject, await runOne(subject));
    } catch (error) {
      process.stderr.write(`  ${error.message}\n`);
    }
  }
  const raw = inRound.get(RAW);
  for (const [{ name }, run] of inRound) runs.get(name).push({ ...run, raw });
}
await stopAll();
rmSync(folder, { recursive: true, force: true });

const gigabits = (run) => (run.bytes * 8) / run.seconds / 1e9;
const perGb = (run) => run.cpu / (run.bytes / 1e9);
const megabits = (run, packets) => (packets * DATAGRAM_BYTES * 8) / run.seconds / 1e6;
const lost = (run) => (1 - run.packets / run.sent) * 100;
const each = (run, count) => (run.cpu * 1e6) / count;
// What did not get through is a dash.
const number = (title, read, digits = 2) => [
  title,
  (row) =>
    figure(
      row.of((run) => tryRead(read, run)),
      digits,
    ),
];
const tryRead = (read, run) => {
  try {
    return read(run);
  } catch {
    return Number.NaN;
  }
};
const subject = ['subject', (row) => row.name];
const rows = all.map(({ name, only, udp }) => ({
  name,
  only,
  udp,
  of: (read) => median(runs.get(name).map(read)),
}));
const streams = rows.filter(({ only }) => only === undefined);

/** How far apart the rounds are: a difference between two rows that is smaller says nothing. */
function scatter(read) {
  const shares = rows
    .map(({ name }) => runs.get(name).map((run) => tryRead(read, run)))
    .map((values) => (Math.max(...values) - Math.min(...values)) / median(values))
    .filter((share) => Number.isFinite(share));
  return rounds === 1 || shares.length === 0
    ? 'nobody knows how much'
    : `${figure(median(shares) * 100, 0)} % in the middle`;
}

console.log(`\nMedian of ${rounds} rounds, ${seconds} s a figure, Node ${process.version}, ${loadLine()}.`);
for (const { name, needs } of absent) console.log(`Not here: ${name} (${needs.join(', ')}); see npm run peers.`);
if (parts.has('tcp') || parts.has('line')) {
  console.log('\nTCP, Gbit/s and CPU seconds of both processes for a GB; the long line has 100 ms and 1 Gbit/s.\n');
  printTable(
    'tcp',
    [
      subject,
      number('down Gbit/s', (run) => gigabits(run.down)),
      number('down of raw', (run) => gigabits(run.down) / gigabits(run.raw.down)),
      number('CPU s/GB down', (run) => perGb(run.down)),
      number('up Gbit/s', (run) => gigabits(run.up)),
      number('up of raw', (run) => gigabits(run.up) / gigabits(run.raw.up)),
      number('CPU s/GB up', (run) => perGb(run.up)),
      number('8 streams Gbit/s', (run) => gigabits(run.many)),
      number('CPU s/GB 8 streams', (run) => perGb(run.many)),
      number('long line down', (run) => gigabits(run.farDown) / gigabits(run.raw.farDown)),
      number('long line up', (run) => gigabits(run.farUp) / gigabits(run.raw.farUp)),
    ],
    streams,
  );
  console.log(
    `\nRounds differ in CPU s/GB by ${scatter((run) => perGb(run.down))} (down), ${scatter((run) => perGb(run.up))} (up).`,
  );
}
if (parts.has('connections')) {
  console.log('\nNew connections (wrk, 32 at a time), one byte there and back, memory at its most.\n');
  printTable(
    'connections',
    [
      subject,
      number('conn/s', (run) => run.fresh.count / run.fresh.seconds, 0),
      number('failed', (run) => run.fresh.errors, 0),
      number('p99 ms', (run) => run.fresh.p99, 1),
      number('CPU µs/conn', (run) => each(run.fresh, run.fresh.count), 0),
      number('server CPU µs/conn', (run) => (run.fresh.cpus[0] * 1e6) / run.fresh.count, 0),
      number('p50 µs', (run) => run.one.p50, 0),
      number('added p50 µs', (run) => run.one.p50 - run.raw.one.p50, 0),
      number('p99 µs', (run) => run.one.p99, 0),
      number('RSS MB server', (run) => run.rss[0] / 1e6, 0),
      number('RSS MB client', (run) => run.rss[1] / 1e6, 0),
    ],
    streams,
  );
  console.log(`\nRounds differ in CPU µs/conn by ${scatter((run) => each(run.fresh, run.fresh.count))}.`);
}
if (parts.has('udp')) {
  const flood = (run) => run[`udp${FLOOD}`];
  console.log(
    `\nUDP, ${DATAGRAM_BYTES} bytes a datagram (iperf3), to the target; CPU µs for each datagram that arrived, server and client.\n`,
  );
  printTable(
    'udp',
    [
      subject,
      ...UDP_MEGABITS.flatMap((rate) => [
        number(`${rate} Mbit/s: lost %`, (run) => lost(run[`udp${rate}`]), 1),
        number(`${rate} Mbit/s: CPU µs`, (run) => each(run[`udp${rate}`], run[`udp${rate}`].packets), 1),
      ]),
      number('flood: sent Mbit/s', (run) => megabits(flood(run), flood(run).sent), 0),
      number('flood: arrived Mbit/s', (run) => megabits(flood(run), flood(run).packets), 0),
      number('flood: lost %', (run) => lost(flood(run)), 1),
      number('flood: CPU µs server', (run) => (flood(run).cpus[0] * 1e6) / flood(run).packets, 1),
      number('flood: client', (run) => (flood(run).cpus[1] * 1e6) / flood(run).packets, 1),
    ],
    rows.filter(({ udp }) => udp !== false),
  );
  const [, middle] = UDP_MEGABITS;
  console.log(
    `\nRounds differ in CPU at ${middle} Mbit/s by ${scatter((run) => each(run[`udp${middle}`], run[`udp${middle}`].packets))}.`,
  );
}
