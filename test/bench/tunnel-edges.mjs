// npm run bench -- tunnel-edges [rounds] [seconds]
//
// A visitor at an edge whose agent is connected to another edge, beside one whose agent is connected to the same edge.
// Two servers, one agent, a process each; both edges take visitors in turn in each round, of the same tunnel and through
// the same agent. `CPU of local` and `p50 more` compare within a round. CPU is that of both servers and the agent.
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { createAgentSecret, createServerIdentity, formatAgentKey } from '@gatehouse/tunnel-kernel';
import { EDGE_FLAGS } from '../../apps/tunnel-gateway/dist/edge-supervisor/fork-edge.js';
import { cpuSeconds, startScript, stop, stopAll } from './processes.mjs';
import { figure, inTurn, loadLine, median, printTable } from './table.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 2);
const GB = 1e9;

function startServer(setUp) {
  return startScript(here('tunnel/edges-server.mjs'), [JSON.stringify(setUp)], { execArgv: EDGE_FLAGS });
}

async function startEdges(target, sealed) {
  const identity = createServerIdentity();
  const secret = createAgentSecret();
  const shared = { identity, secret, psk: randomBytes(32).toString('hex'), target, sealed };
  const servers = [await startServer({ id: 'a', ...shared }), await startServer({ id: 'b', ...shared })];
  const [near] = servers;
  const key = formatAgentKey({ secret, fingerprint: identity.fingerprint });
  const agent = await startScript(here('tunnel/agent.mjs'), [String(near.first.agents.port), key]);
  const list = servers.map(({ first: { id, mesh, agents } }) => ({ id, mesh, agents }));
  await Promise.all(
    servers.map(
      ({ child }) =>
        new Promise((resolve) => {
          child.once('message', resolve);
          child.send(list);
        }),
    ),
  );
  return {
    entries: { 'agent at this edge': near.first.port, 'agent at another edge': servers[1].first.port },
    processes: [...servers.map(({ child }) => child), agent.child],
  };
}

async function ask(load, mode, options) {
  load.send({ mode, options });
  const message = await new Promise((resolve) => load.once('message', resolve));
  if (message.error) throw new Error(message.error);
  return message.result;
}

async function measure(processes, load, mode, options) {
  const before = processes.map(({ pid }) => cpuSeconds(pid));
  const result = await ask(load, mode, options);
  const cpu = processes.reduce((sum, { pid }, index) => sum + cpuSeconds(pid) - before[index], 0);
  return { ...result, cpu };
}

async function runEntry(entry, processes, target, load) {
  const route = { entry, target, socks: false };
  await ask(load, 'requests', { ...route, seconds: 0.5, concurrency: 4, size: 64 }); // warm up
  await ask(load, 'throughput', { ...route, direction: 'down', seconds: 0.5, streams: 1 });
  return {
    down: await measure(processes, load, 'throughput', { ...route, direction: 'down', seconds, streams: 1 }),
    up: await measure(processes, load, 'throughput', { ...route, direction: 'up', seconds, streams: 1 }),
    one: await measure(processes, load, 'requests', { ...route, seconds, concurrency: 1, size: 64 }),
    fresh: await measure(processes, load, 'connections', { ...route, seconds, concurrency: 16 }),
  };
}

const target = (await startScript(here('relay/target.mjs'))).first.port;
const load = (await startScript(here('relay/load.mjs'))).child;
const rows = [];
const rowOf = (name) => {
  const known = rows.find((row) => row.name === name) ?? { name, runs: [] };
  if (!rows.includes(known)) rows.push(known);
  return known;
};
for (let round = 1; round <= rounds; round++) {
  for (const sealed of inTurn([false, true], round)) {
    const { entries, processes } = await startEdges(target, sealed);
    const measured = {};
    for (const name of inTurn(Object.keys(entries), round)) {
      process.stderr.write(`round ${round} of ${rounds}: ${name}, ${sealed ? 'sealed' : 'plain'}\n`);
      measured[name] = await runEntry(entries[name], processes, target, load);
    }
    for (const name of Object.keys(entries)) {
      const local = measured['agent at this edge'];
      rowOf(`${name}, ${sealed ? 'sealed' : 'plain'}`).runs.push({ ...measured[name], local });
    }
    for (const child of processes) await stop(child);
  }
}
const rate = (run) => run.bytes / run.seconds / GB;
const perGb = (run) => run.cpu / (run.bytes / GB);
const perConnection = (run) => (run.cpu * 1e6) / run.count;
const number = (title, read, digits = 2) => [title, ({ runs }) => figure(median(runs.map(read)), digits)];
console.log(
  `\nMedian of ${rounds} rounds, ${seconds} s a figure, ${os.cpus().length} cores, Node ${process.version}, ${loadLine()}.\n`,
);
printTable(
  'edges',
  [
    ['visitors', ({ name }) => name],
    number('GB/s down', ({ down }) => rate(down)),
    number('CPU s/GB down', ({ down }) => perGb(down)),
    number('CPU of local', ({ down, local }) => perGb(down) / perGb(local.down)),
    number('CPU s/GB up', ({ up }) => perGb(up)),
    number('CPU of local', ({ up, local }) => perGb(up) / perGb(local.up)),
    number('p50 µs', ({ one }) => one.p50, 0),
    number('p50 more, ms', ({ one, local }) => (one.p50 - local.one.p50) / 1000),
    number('conn/s', ({ fresh }) => fresh.count / fresh.seconds, 0),
    number('CPU µs/conn', ({ fresh }) => perConnection(fresh), 0),
    number('CPU of local', ({ fresh, local }) => perConnection(fresh) / perConnection(local.fresh)),
  ],
  rows,
);
await stopAll();
