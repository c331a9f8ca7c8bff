// Refresh and introspection beside node-oidc-provider and Ory Hydra, on databases of one PostgreSQL, round by round.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, findPeer, startScript, stop } from '../processes.mjs';
import { figure, printTable, quantile } from '../table.mjs';
import { startHydra } from './servers/hydra.mjs';
import { findOidcProvider, startOidcProvider } from './servers/oidc-provider.mjs';
import { prepareOwn } from './servers/own.mjs';
import { startResourceSharing } from './service.mjs';

const CONNECTIONS = 32;
const WARM_UP_TURNS = 1;
const TURNS = 6;
/** Grants, each refreshed once a round; fewer for Hydra, whose tokens take a flow each. */
const GRANTS = 2_000;
const GRANTS_OF_HYDRA = 400;
const IDLE_SECONDS = 3;
/** With `--idle`, how long everything rests before each measured round, which then has no unmeasured one before it. */
const REST_SECONDS = 10;
const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));

const REFRESH = 'refresh';
const FIRST = 'introspection of a token not seen before';
const AGAIN = 'introspection of the same tokens again';
/** The operations in the order of their tables. */
const TABLES = new Map([
  [REFRESH, 'peers-refresh'],
  [FIRST, 'peers-first-introspection'],
  [AGAIN, 'peers-introspection-again'],
]);

export async function run() {
  const service = await startResourceSharing();
  const servers = [];
  try {
    servers.push(await prepareOwn(service, GRANTS));
    servers.push(...(await startPeers(service)));
    if (servers.length === 1) return 0;
    const peers = servers.filter(({ version }) => version !== undefined);
    console.log([...new Set(peers.map(({ name, version }) => `${name} ${version}`))].join(', '));
    const measured = servers.flatMap((server) => emptyRows(server));
    const idle = await idleCpu(service, servers);
    for (let turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
      for (const server of inTurn(servers, turn)) {
        // While the others had their turn, connections were closed for having nothing to do, and memory was tidied up.
        if (turn >= 0 && process.argv.includes('--idle')) await rest(REST_SECONDS);
        else await oneRound(server, service.postgresPid, []);
        const rows = measured.filter((row) => row.server === server);
        await oneRound(server, service.postgresPid, turn < 0 ? [] : rows);
      }
    }
    for (const operation of TABLES.keys())
      print(
        operation,
        measured.filter((row) => row.operation === operation),
      );
    console.log(idle);
    return 0;
  } finally {
    for (const server of servers) await server.end();
    await service.end();
  }
}

async function startPeers(service) {
  const started = [];
  const folder = findOidcProvider();
  if (folder === null) {
    console.log('skipped: oidc-provider is not installed (npm run peers -- --oidc-provider)');
  } else {
    const databaseUrl = await createDatabase(service, 'oidc_provider');
    started.push(await startOidcProvider({ folder, databaseUrl, count: GRANTS }));
  }
  const program = findPeer('hydra');
  if (program === null) {
    console.log('skipped: hydra is not installed (npm run peers -- --hydra, which needs Go)');
  } else {
    const databaseUrl = await createDatabase(service, 'hydra');
    started.push(...(await startHydra({ program, databaseUrl, count: GRANTS_OF_HYDRA })));
  }
  return started;
}

async function createDatabase(service, name) {
  await service.query(`CREATE DATABASE ${name}`);
  const url = new URL(service.databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function emptyRows(server) {
  return (server.refreshOnly ? [REFRESH] : [...TABLES.keys()]).map((operation) => ({
    server,
    operation,
    count: 0,
    seconds: 0,
    node: 0,
    postgres: 0,
    waits: [],
    sums: [],
  }));
}

/** Each is first and last as often as the others. */
function inTurn(servers, turn) {
  const first = Math.abs(turn) % servers.length;
  return [...servers.slice(first), ...servers.slice(0, first)];
}

/** Refreshes every token once, then looks at what came of it twice; `rows` get the figures. */
async function oneRound(server, postgresPid, rows) {
  const refreshed = await measure(server, postgresPid, {
    endpoint: server.token,
    forms: server.tokens.map((token) => ({ grant_type: 'refresh_token', refresh_token: token })),
    expect: '"refresh_token":',
    collect: true,
  });
  const answers = refreshed.bodies.map((body) => JSON.parse(body));
  checkRotation(server, answers);
  server.tokens = answers.map((answer) => answer.refresh_token);
  if (rows.length > 0) add(rows[0], refreshed);
  if (server.refreshOnly) return;
  const forms = answers.map((answer) => ({ token: answer.access_token, token_type_hint: 'access_token' }));
  const look = { endpoint: server.introspection, forms, expect: '"active":true' };
  for (const row of [rows[1], rows[2]]) {
    const result = await measure(server, postgresPid, look);
    if (row !== undefined) add(row, result);
  }
}

function checkRotation({ name, tokens }, answers) {
  const fresh = new Set(answers.flatMap((answer) => [answer.access_token, answer.refresh_token]));
  if (fresh.size !== 2 * tokens.length || fresh.has(undefined) || tokens.some((token) => fresh.has(token))) {
    throw new Error(`${name} does not rotate its tokens`);
  }
}

function add(row, { count, seconds, node, postgres, waits }) {
  row.count += count;
  row.seconds += seconds;
  row.node += node;
  row.postgres += postgres;
  row.waits.push(...waits);
  row.sums.push((node + postgres) / count);
}

async function measure({ name, pid }, postgresPid, { endpoint, forms, expect, collect = false }) {
  const { child } = await startScript(LOAD);
  const requests = forms.map((form) => post(endpoint, form));
  const before = [cpuSeconds(pid), cpuSeconds(postgresPid)];
  child.send({ port: endpoint.port, connections: CONNECTIONS, requests, expect, collect });
  const [result] = await once(child, 'message');
  const node = cpuSeconds(pid) - before[0];
  const postgres = cpuSeconds(postgresPid) - before[1];
  await stop(child);
  const wrong = result.statuses.filter(([status]) => status !== '200');
  if (wrong.length > 0) throw new Error(`${name}: POST ${endpoint.path} answered ${JSON.stringify(result.statuses)}`);
  return { ...result, count: forms.length, node, postgres };
}

function post({ path, authorization }, form) {
  const body = new URLSearchParams(form).toString();
  const head = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Content-Type: application/x-www-form-urlencoded'];
  if (authorization !== undefined) head.push(`Authorization: ${authorization}`);
  return `${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
}

/** What is in the figures although nobody asks for anything. */
async function idleCpu(service, servers) {
  const pids = [...new Set([service.postgresPid, ...servers.map(({ pid }) => pid)])];
  const before = pids.map((pid) => cpuSeconds(pid));
  await rest(IDLE_SECONDS);
  const shares = pids.map((pid, index) => ((cpuSeconds(pid) - before[index]) / IDLE_SECONDS) * 100);
  return `idle, % of a core: PostgreSQL ${figure(shares[0], 1)}, the servers ${shares
    .slice(1)
    .map((share) => figure(share, 1))
    .join(', ')}`;
}

function rest(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}

/** Without the version, so that the tables of two runs have the same rows. How Hydra hashes secrets matters for refreshes only. */
function rowName({ server: { name, label } }, operation) {
  return label !== undefined && operation === REFRESH ? `${name}, ${label}` : name;
}

function print(operation, rows) {
  const [own] = rows;
  const sum = (row) => (row.node + row.postgres) / row.count;
  const ofOwn = (row) => row.sums.map((value, index) => value / own.sums[index]);
  const micro = (row, name) => Math.round((row[name] / row.count) * 1e6);
  console.log(`\n${operation}, ${CONNECTIONS} connections`);
  printTable(
    TABLES.get(operation),
    [
      [operation, (row) => rowName(row, operation)],
      ['requests', (row) => row.count],
      ['/s', (row) => Math.round(row.count / row.seconds)],
      ['p50 ms', (row) => figure(quantile(row.waits, 0.5), 1)],
      ['p99 ms', (row) => figure(quantile(row.waits, 0.99), 1)],
      ['CPU µs: server', (row) => micro(row, 'node')],
      ['PostgreSQL', (row) => micro(row, 'postgres')],
      ['together', (row) => Math.round(sum(row) * 1e6)],
      ['of ours', (row) => figure(sum(row) / sum(own))],
      [
        'turns',
        (row) => (row === own ? '' : `${figure(Math.min(...ofOwn(row)))} to ${figure(Math.max(...ofOwn(row)))}`),
      ],
    ],
    rows,
  );
}
