// CPU of an authenticated read, limits and usage included, against a bare Nest + Express route with the same answer.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, startScript, stop } from '../processes.mjs';
import { figure, median, printTable } from '../table.mjs';
import { startResourceSharing } from './service.mjs';

const MOST_RATIO = 1.4;
const LEAST_PER_CORE = 12_000;
const CONNECTIONS = 16;
const ROUNDS = 5;
const REQUESTS = 20_000;
const NOT_REACHED = 1_000_000;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

export async function run() {
  const service = await startResourceSharing({ env: { API_RATE_LIMIT: String(NOT_REACHED) } });
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-reads-'));
  try {
    const { rows } = await service.query(
      `INSERT INTO site_accounts (username, nickname, password_hash) VALUES ('bench', 'bench', 'none') RETURNING id`,
    );
    const [key] = await service.personalKeys([Number(rows[0].id)]);
    await liftLimits(service);
    const url = new URL(service.urls[0]);
    const answer = await (await fetch(new URL('/api/open/ping', url), { headers: { 'x-api-key': key } })).text();
    const file = path.join(scratch, 'answer.json');
    writeFileSync(file, answer);
    const { child: bare, first } = await startScript(here('../api/bare-nest.mjs'), [file]);
    const figures = [];
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      const ofBare = await costOf(bare.pid, first.port, request('/answer'));
      const own = await costOf(service.pids[0], Number(url.port), request('/api/open/ping', key));
      if (round > 0) figures.push({ bare: ofBare, own });
    }
    await stop(bare);
    const bareCost = median(figures.map(({ bare: cost }) => cost));
    const cost = median(figures.map(({ own }) => own));
    console.log(
      `authenticated reads, CPU µs of Node a request; targets: ratio ${MOST_RATIO}, ${LEAST_PER_CORE}/s a core`,
    );
    printTable(
      'reads',
      [
        ['authenticated read, CPU µs of Node', (row) => row.name],
        ['bare Nest', (row) => figure(row.bare, 1)],
        ['gatehouse', (row) => figure(row.own, 1)],
        ['ratio', (row) => figure(row.own / row.bare, 2)],
        ['so a core does', (row) => `${Math.round(1e6 / row.own)}/s`],
      ],
      [{ name: 'GET /api/open/ping, cached key', bare: bareCost, own: cost }],
    );
    return (cost / bareCost > MOST_RATIO ? 1 : 0) + (1e6 / cost < LEAST_PER_CORE ? 1 : 0);
  } finally {
    await service.end();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Limits are counted as ever, but not reached. */
export async function liftLimits(service) {
  const { rows } = await service.query(
    `UPDATE quota_profiles SET app_per_minute = 1000000000, app_burst_per_second = 1000000000,
       app_address_per_minute = 1000000000, user_per_minute = 1000000000, app_per_day = 1000000000,
       user_per_day = 1000000000, group_per_minute = '{"meta": 1000000000}' RETURNING name`,
  );
  await service.query(
    `WITH next AS (INSERT INTO revocation_epoch AS present (epoch) VALUES (1)
       ON CONFLICT (only_row) DO UPDATE SET epoch = present.epoch + 1 RETURNING epoch)
     SELECT pg_notify('resource-sharing:revocations', epoch || ' quota:all') FROM next`,
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  return rows.length;
}

function request(target, key) {
  const lines = [`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Accept: application/json'];
  if (key !== undefined) lines.push(`X-API-Key: ${key}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

async function costOf(pid, port, text) {
  const { child } = await startScript(here('./load.mjs'));
  const before = cpuSeconds(pid);
  child.send({ port, connections: CONNECTIONS, requests: Array.from({ length: REQUESTS }, () => text) });
  const [{ statuses }] = await once(child, 'message');
  const used = cpuSeconds(pid) - before;
  await stop(child);
  const wrong = statuses.filter(([status]) => status !== '200');
  if (wrong.length > 0) throw new Error(`answers: ${JSON.stringify(statuses)}`);
  return (used / REQUESTS) * 1e6;
}
