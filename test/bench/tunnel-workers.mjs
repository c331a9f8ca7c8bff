// npm run bench -- tunnel-workers [rounds] [seconds] [workers ...]
//
// A built tunnel gateway with one edge process and with several. Requests over connections that stay, and a connection for
// each request, which the door of several deals out. Two clients with a host and an agent each, so that two workers have
// one each; an nginx as target, one wrk for each host. Every number of workers runs in every round, in every other one the
// other way round; each load runs twice, and the second run counts. CPU is that of the edge's processes, user and system,
// door and workers apart; agents, nginx and wrk share the machine and are not counted.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  cpuSeconds,
  requirePeer,
  freePort,
  residentBytes,
  startProgram,
  startScript,
  stop,
  stopAll,
} from './processes.mjs';
import { startWorkplace } from './services/built-service.mjs';
import { startTunnelGateway } from './services/tunnel-gateway.mjs';
import { figure, inTurn, loadLine, median, printTable } from './table.mjs';

const run = promisify(execFile);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const rounds = Number(process.argv[2] ?? 2);
const seconds = Number(process.argv[3] ?? 4);
const counts = process.argv.length > 4 ? process.argv.slice(4).map(Number) : [1, 2];
const CONNECTIONS = 32;
const HOSTS = ['one.example', 'two.example'];
const LOADS = [
  { what: 'requests', fields: [] },
  { what: 'connections', fields: ['-H', 'Connection: close'] },
];
const workplace = await startWorkplace();
const { home } = workplace;

async function startOrigin() {
  const port = await freePort();
  const file = path.join(home, 'origin.conf');
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${home}/${kind};`);
  writeFileSync(
    file,
    `${process.getuid() === 0 ? 'user root;' : ''} daemon off; pid ${home}/origin.pid; worker_processes 1;
events { worker_connections 4096; }
http { access_log off; ${temp.join(' ')} keepalive_requests 1000000000;
server { listen 127.0.0.1:${port} backlog=4096; location / { default_type text/plain; return 200 "${'x'.repeat(1024)}"; } } }`,
  );
  await startProgram(requirePeer('nginx'), ['-p', home, '-e', path.join(home, 'origin.log'), '-c', file], port);
  return port;
}

async function startGateway(workers) {
  const [agents, http] = [await freePort(), await freePort()];
  const env = {
    TUNNEL_AGENT_PORT: String(agents),
    TUNNEL_HTTP_PORT: String(http),
    TUNNEL_EDGE_WORKERS: String(workers),
  };
  return { ...(await startTunnelGateway(workplace, { env })), agents, http };
}

/** A client with its agent for each host; the same ones for every number of workers. */
async function makeClients({ call }, origin) {
  const keys = [];
  for (const host of HOSTS) {
    const { id, key } = await call('POST', '/clients', { name: host, encrypt: false });
    await call('POST', '/hosts', { client_id: id, host, target_addr: `http://127.0.0.1:${origin}` });
    keys.push(key);
  }
  return keys;
}

function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

async function untilServed({ http }) {
  for (const host of HOSTS) {
    for (let served = false; !served;) {
      const { stdout } = await run('curl', [
        '-s',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code}',
        '-H',
        `Host: ${host}`,
        `http://127.0.0.1:${http}/`,
      ]);
      served = stdout === '200';
    }
  }
}

async function wrk(port, host, fields) {
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', '-H', `Host: ${host}`, ...fields];
  const { stdout } = await run(requirePeer('wrk'), [...args, `http://127.0.0.1:${port}/`]);
  const errors = /Non-2xx or 3xx responses: (\d+)/.exec(stdout);
  if (errors) throw new Error(errors[0]);
  const broken = /Socket errors:.*/.exec(stdout);
  if (broken) process.stderr.write(`  ${host}: ${broken[0]}\n`);
  return Number(/(\d+) requests in/.exec(stdout)[1]);
}

/** CPU seconds of the edge's own process, and of its workers. */
function cpuOf(edge, workers) {
  const ofWorkers = workers.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  // A process is measured with its children.
  return [cpuSeconds(edge) - ofWorkers, ofWorkers];
}

async function measure({ http }, edge, workers, fields) {
  const before = cpuOf(edge, workers);
  const requests = (await Promise.all(HOSTS.map((host) => wrk(http, host, fields)))).reduce(
    (sum, each) => sum + each,
    0,
  );
  const used = cpuOf(edge, workers).map((after, index) => after - before[index]);
  return { perSecond: requests / seconds, cpu: used.map((part) => (part / requests) * 1e6) };
}

/** Each load through a gateway of its own; answers what was measured, a load each. */
async function runCount(count, keysOf) {
  const gateway = await startGateway(count);
  const agents = [];
  for (const key of await keysOf(gateway)) {
    agents.push(await startScript(here('tunnel/agent.mjs'), [String(gateway.agents), key]));
  }
  await untilServed(gateway);
  const [edge] = childrenOf(gateway.pid);
  const workers = childrenOf(edge);
  const measured = [];
  for (const { fields } of LOADS) {
    await measure(gateway, edge, workers, fields);
    const { perSecond, cpu } = await measure(gateway, edge, workers, fields);
    measured.push({ perSecond, cpu, memory: residentBytes(edge) / 2 ** 20 });
  }
  for (const { child } of agents) await stop(child);
  await gateway.stop();
  return measured;
}

const rows = counts.flatMap((count) =>
  LOADS.map(({ what }, load) => ({ count, load, what: `${what}, ${count} serving`, runs: [] })),
);
try {
  const origin = await startOrigin();
  let made = null;
  const keysOf = async (gateway) => (made ??= await makeClients(gateway, origin));
  for (let round = 1; round <= rounds; round++) {
    for (const count of inTurn(counts, round)) {
      process.stderr.write(`round ${round} of ${rounds}: ${count} serving\n`);
      const measured = await runCount(count, keysOf);
      for (const row of rows) if (row.count === count) row.runs.push(measured[row.load]);
    }
  }
  const number = (title, read, digits) => [title, ({ runs }) => figure(median(runs.map(read)), digits)];
  console.log(`\nMedian of ${rounds} rounds, ${seconds} s a figure, Node ${process.version}, ${loadLine()}.\n`);
  printTable(
    'workers',
    [
      ['load', ({ what }) => what],
      number('a second', ({ perSecond }) => perSecond, 0),
      number('edge or door, CPU µs each', ({ cpu }) => cpu[0], 1),
      number('workers, CPU µs each', ({ cpu }) => cpu[1], 1),
      number('together', ({ cpu }) => cpu[0] + cpu[1], 1),
      number('RSS MB', ({ memory }) => memory, 0),
    ],
    rows,
  );
} finally {
  await stopAll();
  await workplace.end();
}
