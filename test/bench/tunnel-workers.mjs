// npm run bench -- tunnel-workers [seconds] [workers ...]
//
// A built tunnel gateway with one edge process and with several. Requests over connections that stay, and a connection for
// each request, which the door of several deals out. Two clients with a host and an agent each, so that two workers have
// one each; an nginx as target, one wrk for each host. CPU is that of the edge's processes, door and workers apart.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cpuSeconds, findPeer, freePort, residentBytes, startProgram, startScript, stopAll } from './processes.mjs';
import { startWorkplace } from './services/built-service.mjs';
import { startTunnelGateway } from './services/tunnel-gateway.mjs';
import { figure, loadLine, printTable } from './table.mjs';

const run = promisify(execFile);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const seconds = Number(process.argv[2] ?? 4);
const counts = process.argv.length > 3 ? process.argv.slice(3).map(Number) : [1, 2];
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
  await startProgram(findPeer('nginx'), ['-p', home, '-e', path.join(home, 'origin.log'), '-c', file], port);
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
  const { stdout } = await run(findPeer('wrk'), [...args, `http://127.0.0.1:${port}/`]);
  const errors = /Non-2xx or 3xx responses: (\d+)/.exec(stdout);
  if (errors) throw new Error(errors[0]);
  return Number(/(\d+) requests in/.exec(stdout)[1]);
}

/** Of the edge's own process, and of its workers. */
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

const rows = [];
try {
  const origin = await startOrigin();
  let keys = null;
  for (const count of counts) {
    const gateway = await startGateway(count);
    keys ??= await makeClients(gateway, origin);
    const agents = [];
    for (const key of keys) agents.push(await startScript(here('tunnel/agent.mjs'), [String(gateway.agents), key]));
    await untilServed(gateway);
    const [edge] = childrenOf(gateway.pid);
    const workers = childrenOf(edge);
    for (const { what, fields } of LOADS) {
      await measure(gateway, edge, workers, fields);
      const { perSecond, cpu } = await measure(gateway, edge, workers, fields);
      const memory = residentBytes(edge) / 2 ** 20;
      rows.push({ what: `${what}, ${count} serving`, perSecond, cpu, memory });
    }
    for (const { child } of agents) child.kill();
    await gateway.stop();
  }
  console.log(loadLine());
  printTable(
    [
      ['', ({ what }) => what],
      ['a second', ({ perSecond }) => figure(perSecond, 0)],
      ['edge or door, CPU µs each', ({ cpu }) => figure(cpu[0], 1)],
      ['workers, CPU µs each', ({ cpu }) => figure(cpu[1], 1)],
      ['RSS MB', ({ memory }) => figure(memory, 0)],
    ],
    rows,
  );
} finally {
  await stopAll();
  await workplace.end();
}
