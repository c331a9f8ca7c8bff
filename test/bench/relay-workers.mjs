// npm run bench -- relay-workers [rounds] [seconds] [processes ...]
//
// Several processes of the kernel on one port. Each process may use a fifth of a core (a control group), so that the kernel is
// what limits, and the load and the target have the rest of the machine: what counts is how much more several processes carry
// than one. Every number of processes runs in every round, in every other one the other way round. Linux, as root.
import { mkdirSync, rmdirSync, writeFileSync, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, freePort, startScript, stop, stopAll } from './processes.mjs';
import { figure, inTurn, loadLine, median, printTable } from './table.mjs';

const here = (name) => fileURLToPath(new URL(`relay/${name}`, import.meta.url));
const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 2);
const counts = process.argv.length > 4 ? process.argv.slice(4).map(Number) : [1, 2, 4];
const PERIOD_US = 20_000;
const QUOTA_US = PERIOD_US / 5;
const LOADS = [
  { what: 'new connections', mode: 'connections', of: ({ count, seconds: s }) => count / s },
  { what: 'small messages', mode: 'requests', of: ({ count, seconds: s }) => count / s },
  { what: 'download, MB', mode: 'throughput', of: ({ bytes, seconds: s }) => bytes / 1e6 / s },
];
const groups = [];

/** Lets a process use no more than `QUOTA_US` of each period, by version 1 or 2 of control groups. */
function limit(pid) {
  const isFirst = existsSync('/sys/fs/cgroup/cpu/cgroup.procs');
  const group = `/sys/fs/cgroup/${isFirst ? 'cpu/' : ''}gatehouse-bench-${pid}`;
  mkdirSync(group);
  groups.push(group);
  if (isFirst) {
    writeFileSync(`${group}/cpu.cfs_period_us`, String(PERIOD_US));
    writeFileSync(`${group}/cpu.cfs_quota_us`, String(QUOTA_US));
  } else writeFileSync(`${group}/cpu.max`, `${QUOTA_US} ${PERIOD_US}`);
  writeFileSync(`${group}/cgroup.procs`, String(pid));
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

/** What each load brings with so many processes, and how even their shares are. */
async function runWith(count, target, load) {
  const port = await freePort();
  const started = await Promise.all(
    Array.from({ length: count }, () => startScript(here('kernel.mjs'), [JSON.stringify({ port })])),
  );
  const pids = started.map(({ child }) => child.pid);
  const route = { entry: port, target, socks: true, concurrency: 32, streams: 32, size: 64, direction: 'down' };
  // Warm, without the limit.
  await ask(load, 'connections', { ...route, seconds: 2 });
  pids.forEach(limit);
  const results = [];
  for (const { mode, of } of LOADS) {
    const before = pids.map((pid) => cpuSeconds(pid));
    const carried = of(await ask(load, mode, { ...route, seconds }));
    const cpu = pids.map((pid, index) => cpuSeconds(pid) - before[index]);
    results.push({ carried, least: Math.min(...cpu) / (cpu.reduce((sum, one) => sum + one, 0) / count) });
  }
  await Promise.all(started.map(({ child }) => stop(child)));
  for (const group of groups.splice(0)) rmdirSync(group);
  return results;
}

const target = (await startScript(here('target.mjs'))).first.port;
const load = (await startScript(here('load.mjs'))).child;
const runs = new Map(counts.map((count) => [count, []]));
for (let round = 1; round <= rounds; round++) {
  for (const count of inTurn(counts, round)) {
    process.stderr.write(`round ${round} of ${rounds}: ${count}\n`);
    runs.get(count).push(await runWith(count, target, load));
  }
}
await stopAll();

const rows = LOADS.flatMap(({ what }, index) =>
  counts.map((count) => {
    const middle = (of, among = count) => median(runs.get(among).map((results) => of(results[index])));
    const carried = middle((result) => result.carried);
    return {
      what: `${what}, ${count === 1 ? 'one process' : `${count} processes`}`,
      carried,
      ratio: carried / middle((result) => result.carried, counts[0]),
      least: middle((result) => result.least),
    };
  }),
);
console.log(
  `\nMedian of ${rounds} rounds, ${seconds} s a figure, each process limited to a fifth of a core, ${loadLine()}.\n`,
);
printTable(
  'workers',
  [
    ['load', (row) => row.what],
    ['a second', (row) => figure(row.carried, 0)],
    [`of ${counts[0] === 1 ? 'one' : counts[0]}`, (row) => figure(row.ratio)],
    ['CPU of the least busy, of the mean', (row) => figure(row.least)],
  ],
  rows,
);
