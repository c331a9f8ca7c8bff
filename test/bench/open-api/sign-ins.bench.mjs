// How long authenticated reads take while 200 people sign in at once, each from an address of their own.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { hashPassword } from '@gatehouse/auth';
import { cpuSeconds, startScript, stop } from '../processes.mjs';
import { figure, printTable, quantile } from '../table.mjs';
import { liftLimits } from './reads.bench.mjs';
import { startResourceSharing } from './service.mjs';

const MOST_P99_MS = 50;
const PEOPLE = 200;
const READERS = 4;
/** Reads of one reader a second, evenly: as much as the reads of a page, not as much as the service can do. */
const READS_PER_SECOND = 50;
const QUIET_SECONDS = 5;
const PASSWORD = 'a password of the benchmark';
const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));

export async function run() {
  const service = await startResourceSharing({ env: { TRUSTED_PROXIES: '127.0.0.1', API_RATE_LIMIT: '1000000' } });
  try {
    const [key] = await prepare(service);
    const rows = [];
    for (const name of ['nobody signs in', `${PEOPLE} people sign in`]) rows.push(await measure(service, key, name));
    console.log(`authenticated reads; target while people sign in: p99 ${MOST_P99_MS} ms`);
    printTable(
      'sign-ins',
      [
        ['GET /api/open/ping', (row) => row.name],
        ['reads', (row) => row.waits.length],
        ['p50 ms', (row) => figure(quantile(row.waits, 0.5), 1)],
        ['p99 ms', (row) => figure(quantile(row.waits, 0.99), 1)],
        ['most ms', (row) => figure(Math.max(...row.waits), 1)],
        ['sign-ins done, s', (row) => (row.signIns === undefined ? '' : figure(row.signIns.seconds, 1))],
        ['answers', (row) => row.signIns?.statuses.map(([status, count]) => `${count} × ${status}`).join(', ') ?? ''],
        ['cores', (row) => figure(row.cores, 2)],
      ],
      rows,
    );
    return quantile(rows[1].waits, 0.99) > MOST_P99_MS ? 1 : 0;
  } finally {
    await service.end();
  }
}

async function prepare(service) {
  const hash = await hashPassword(PASSWORD);
  const { rows } = await service.query(
    `INSERT INTO site_accounts (username, nickname, password_hash)
     SELECT 'bench' || n, 'bench', $1 FROM generate_series(1, $2) n RETURNING id`,
    [hash, PEOPLE],
  );
  await liftLimits(service);
  return service.personalKeys([Number(rows[0].id)]);
}

/** Reads go on until all have signed in, or for QUIET_SECONDS if nobody does. */
async function measure(service, key, name) {
  const port = Number(new URL(service.urls[0]).port);
  const before = cpuSeconds(service.pids[0]);
  const began = performance.now();
  const signIns = name.startsWith(String(PEOPLE)) ? signIn(port) : undefined;
  const until = signIns ?? new Promise((resolve) => setTimeout(resolve, QUIET_SECONDS * 1_000));
  let ended = false;
  void until.finally(() => (ended = true)).catch(() => undefined);
  const waits = await Promise.all(Array.from({ length: READERS }, () => read(port, key, () => ended)));
  const cores = (cpuSeconds(service.pids[0]) - before) / ((performance.now() - began) / 1_000);
  return { name, waits: waits.flat(), signIns: await signIns, cores };
}

async function read(port, key, ended) {
  const waits = [];
  const url = `http://127.0.0.1:${port}/api/open/ping`;
  const first = performance.now();
  while (!ended()) {
    const due = first + (waits.length * 1_000) / READS_PER_SECOND;
    const early = due - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const start = performance.now();
    const answer = await fetch(url, { headers: { 'x-api-key': key } });
    await answer.text();
    if (answer.status !== 200) throw new Error(`a read was answered ${answer.status}`);
    waits.push(performance.now() - start);
  }
  return waits;
}

async function signIn(port) {
  const { child } = await startScript(LOAD);
  const requests = Array.from({ length: PEOPLE }, (_, index) => {
    const body = JSON.stringify({ username: `bench${index + 1}`, password: PASSWORD });
    const head = [
      'POST /api/site/login HTTP/1.1',
      'Host: 127.0.0.1',
      `X-Forwarded-For: 198.51.100.${index + 1}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  });
  child.send({ port, connections: PEOPLE, requests });
  const [result] = await once(child, 'message');
  await stop(child);
  return result;
}
