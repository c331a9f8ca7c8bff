// A tunnel gateway with 1,000 clients, 10,000 tunnels, 5,000 hosts and 50,000 rules: its lists, its start, its changes
// npm run bench -- tunnel-lists [agents] [rounds]
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { TunnelAgent } from '@gatehouse/tunnel-kernel';
import pg from 'pg';
import { cpuSeconds, residentBytes } from './processes.mjs';
import { startWorkplace } from './services/built-service.mjs';
import { startTunnelGateway } from './services/tunnel-gateway.mjs';
import { loadLine, printTable, quantile } from './table.mjs';

const AGENTS = Number(process.argv[2] ?? 100);
const ROUNDS = Number(process.argv[3] ?? 200);
const CHANGES = 20;
const [USERS, CLIENTS, TUNNELS, HOSTS, RULES] = [100, 1_000, 10_000, 5_000, 50_000];
const FIRST_PORT = 20_000;
const quiet = () => undefined;

/** Totals, series and addresses as after a day of work. */
const SEED = `
  INSERT INTO tunnel_gateway.users (username, password_hash, role)
    SELECT 'user' || n, 'none', 'user' FROM generate_series(1, ${USERS - 1}) n;
  INSERT INTO tunnel_gateway.clients (name, verify_key, owner_user_id, inlet_flow, created_at, updated_at)
    SELECT (ARRAY['office', 'home', 'shop', 'lab'])[1 + n % 4] || ' ' || n, md5(n::text), 1 + n % ${USERS},
      (n * 7919) % 100000, now() - n * interval '1 minute', now() FROM generate_series(1, ${CLIENTS}) n;
  INSERT INTO tunnel_gateway.tunnels
      (client_id, name, mode, listen_ip, listen_port, target_addr, export_flow, created_at, updated_at)
    SELECT 1 + n % ${CLIENTS}, 'tunnel ' || (n * 7919) % ${TUNNELS}, 'tcp', '127.0.0.1', ${FIRST_PORT} + n,
      '10.0.' || n % 250 || '.7:' || 1000 + n % 9000, (n * 104729) % 1000000, now(), now()
    FROM generate_series(0, ${TUNNELS - 1}) n;
  INSERT INTO tunnel_gateway.hosts (client_id, host, target_addr, created_at, updated_at)
    SELECT 1 + n % ${CLIENTS}, 'app' || (n * 7919) % ${HOSTS} || '.customer' || n % 300 || '.example',
      'http://10.1.' || n % 250 || '.7:8080', now(), now() FROM generate_series(1, ${HOSTS}) n;
  INSERT INTO tunnel_gateway.ip_rules (scope, resource_id, type, pattern, pattern_kind, priority, created_at, updated_at)
    SELECT (ARRAY['tunnel', 'host', 'client', 'user', 'global'])[1 + n % 5],
      CASE n % 5 WHEN 0 THEN 1 + n % ${TUNNELS} WHEN 1 THEN 1 + n % ${HOSTS} WHEN 2 THEN 1 + n % ${CLIENTS}
        WHEN 3 THEN 1 + n % ${USERS} ELSE 0 END,
      'deny', '11.' || n % 256 || '.' || (n / 256) % 256 || '.0/24', 'cidr', n % 100, now(), now()
    FROM generate_series(1, ${RULES}) n;
  INSERT INTO tunnel_gateway.flow_stats (resource_type, resource_id, inlet_bytes, export_bytes, updated_at)
    SELECT 'tunnel', id, 1000, export_flow, now() FROM tunnel_gateway.tunnels
    UNION ALL SELECT 'host', id, 0, 0, now() FROM tunnel_gateway.hosts
    UNION ALL SELECT 'client', id, inlet_flow, 0, now() FROM tunnel_gateway.clients
    UNION ALL SELECT 'global', 0, 1, 1, now();
  INSERT INTO tunnel_gateway.request_ips (resource_type, resource_id, ip, hit_count, last_seen_at)
    SELECT kind, id, '198.18.' || n / 250 || '.' || n % 250, (n * 7919) % 1000, now() - n * interval '1 second'
    FROM generate_series(1, 10000) n, (VALUES ('global', 0), ('user', 5), ('client', 5), ('tunnel', 5)) AS r (kind, id);
  INSERT INTO tunnel_gateway_ops.flow_minutes
    SELECT 'global', 0, date_trunc('minute', now()) - n * interval '1 minute', n, n, n FROM generate_series(1, 1440) n;
  INSERT INTO tunnel_gateway_ops.flow_days
    SELECT 'tunnel', t, date_trunc('day', now(), 'UTC') - n * interval '1 day', t + n, t, 1
    FROM generate_series(1, ${TUNNELS}) t, generate_series(0, 29) n;
  INSERT INTO tunnel_gateway_ops.flow_days
    SELECT 'host', t, date_trunc('day', now(), 'UTC') - n * interval '1 day', t + n, t, 1
    FROM generate_series(1, ${HOSTS}) t, generate_series(0, 29) n;`;

const LISTS = [
  ['clients', '/clients?'],
  ['clients, 200', '/clients?limit=200'],
  ['clients by name', '/clients?sort=name'],
  ['clients by traffic', '/clients?sort=-inlet_flow'],
  ['tunnels', '/tunnels?'],
  ['tunnels, 200', '/tunnels?limit=200'],
  ['tunnels by name', '/tunnels?sort=name'],
  ['tunnels by traffic', '/tunnels?sort=-export_flow'],
  ['tunnels by time', '/tunnels?sort=-created_at'],
  ['tunnels of a client', '/tunnels?client_id=17'],
  ['tunnels with a text', '/tunnels?q=tunnel%2077'],
  ['hosts by name', '/hosts?sort=host'],
  ['hosts with a text', '/hosts?q=customer12'],
  ['rules', '/ip-rules?'],
  ['rules by priority', '/ip-rules?sort=priority'],
  ['rules by pattern', '/ip-rules?sort=-pattern'],
  ['rules of a tunnel', '/ip-rules?scope=tunnel&resource_id=16'],
  ['rules with a text', '/ip-rules?q=11.77'],
  ['totals by traffic', '/flow-stats?sort=-export_bytes'],
  ['addresses by hits', '/request-ips?resource_type=global&resource_id=0&sort=-hits'],
  ['check of an address', `/ip-rules/check?ip=11.1.1.1&resource_type=tunnel&resource_id=16`],
  ['dashboard', '/dashboard'],
];

const env = { TUNNEL_AGENT_PORT: '8024', PORT_RANGE: '31000-31999', API_RATE_LIMIT: '0' };
const agents = [];
const workplace = await startWorkplace();
let service = null;

try {
  // The first start makes the tables and the administrator.
  service = await startTunnelGateway(workplace, { env, output: 'inherit' });
  await service.stop();
  await withDatabase(async (client) => {
    await client.query(SEED);
    await client.query('VACUUM ANALYZE');
  });
  const began = performance.now();
  service = await startTunnelGateway(workplace, { env, output: 'inherit' });
  await untilReady(service);
  console.log(`${CLIENTS} clients, ${TUNNELS} tunnels, ${HOSTS} hosts, ${RULES} rules; ${loadLine()}`);
  const startMs = performance.now() - began;
  console.log(`start, until all ports are open and it is ready: ${(startMs / 1000).toFixed(1)} s`);
  await measureLists();
  await measureChanges(startMs);
} finally {
  for (const agent of agents) agent.stop();
  await service?.stop();
  await workplace.end();
}

async function withDatabase(work) {
  const client = new pg.Client({ connectionString: workplace.databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Ready, with the last of the tunnels' ports open. */
async function untilReady({ base }) {
  for (;;) {
    const report = await (await fetch(`${base}/readyz`)).json();
    if (report.status === 'ok' && (await answers(FIRST_PORT + TUNNELS - 1))) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.on('close', quiet).setTimeout(1_000, () => socket.destroy());
    socket.once('connect', () => socket.destroy());
  });
}

async function measureLists() {
  const rows = [];
  for (const [what, route] of LISTS) {
    const times = [];
    for (let round = -10; round < ROUNDS; round += 1) {
      const began = performance.now();
      await service.call('GET', route);
      // The first ones warm up.
      if (round >= 0) times.push(performance.now() - began);
    }
    rows.push({ what, times });
  }
  printTable(
    'lists',
    [
      ['list', ({ what }) => what],
      ['p50 ms', ({ times }) => quantile(times, 0.5).toFixed(1)],
      ['p99 ms', ({ times }) => quantile(times, 0.99).toFixed(1)],
      ['worst ms', ({ times }) => Math.max(...times).toFixed(0)],
    ],
    rows,
  );
}

/** From the request to the moment when a visitor feels it. */
async function measureChanges(startMs) {
  const target = net.createServer((socket) => socket.on('error', quiet).pipe(socket)).listen(0, '127.0.0.1');
  await once(target, 'listening');
  let clientId = 0;
  for (let made = 0; made < AGENTS; made += 1) {
    const { id, key } = await service.call('POST', '/clients', { name: `agent ${made}` });
    agents.push(await online(key));
    clientId = id;
  }
  const tunnel = await service.call('POST', '/tunnels', {
    client_id: clientId,
    mode: 'tcp',
    listen_ip: '127.0.0.1',
    listen_port: 0,
    target_addr: `127.0.0.1:${target.address().port}`,
  });
  await until(() => echoes(tunnel.listen_port), true);
  const edge = edgePid();
  const cpu = cpuSeconds(edge);
  const times = [];
  for (let change = 0; change < CHANGES; change += 1) {
    let began = performance.now();
    const rule = { scope: 'tunnel', resource_id: tunnel.id, type: 'deny', pattern: '127.0.0.1' };
    const { id } = await service.call('POST', '/ip-rules', rule);
    await until(() => echoes(tunnel.listen_port), false);
    times.push(performance.now() - began);
    began = performance.now();
    await service.call('DELETE', `/ip-rules/${id}`);
    await until(() => echoes(tunnel.listen_port), true);
    times.push(performance.now() - began);
  }
  const cpuMs = ((cpuSeconds(edge) - cpu) * 1e3) / times.length;
  console.log('\nA rule that is created or removed, from the request until the next visitor feels it.\n');
  printTable(
    'changes',
    [
      ['agents', () => AGENTS.toLocaleString('en-US')],
      ['p50 ms', () => quantile(times, 0.5).toFixed(0)],
      ['p99 ms', () => quantile(times, 0.99).toFixed(0)],
      ['CPU ms of the edge', () => cpuMs.toFixed(0)],
      ['edge MiB', () => (residentBytes(edge) / 2 ** 20).toFixed(0)],
      ['service MiB', () => (residentBytes(service.child.pid) / 2 ** 20).toFixed(0)],
      ['start, s', () => (startMs / 1000).toFixed(1)],
    ],
    [{}],
  );
  target.close();
}

async function online(key) {
  const agent = new TunnelAgent({
    server: { host: '127.0.0.1', port: 8024 },
    key,
    now: Date.now,
    random: Math.random,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    software: 'bench/1',
    events: {},
  });
  agent.start();
  await until(async () => agent.status.state === 'online', true);
  return agent;
}

async function until(ask, wanted) {
  while ((await ask()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Whether a visitor of the port gets through to the target. */
function echoes(port) {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    const end = (result) => {
      socket.destroy();
      resolve(result);
    };
    socket.on('error', () => end(false)).on('close', () => end(false));
    socket.once('data', () => end(true));
    socket.write('x');
  });
}

/** The service's only child that has the tunnels. */
function edgePid() {
  const { pid } = service.child;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return children[0];
}
