// npm run bench -- backup [--rows 5000000]
//
// Backup and restore of many traffic log rows: how long, how large, and the most memory that each command takes. Memory has
// to stay the same however many rows there are: run it with fewer rows to compare.
import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, cpSync, rmSync, statSync, writeFileSync, readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startEmbeddedPostgres, withClient } from '@gatehouse/persistence';
import { printTable } from './table.mjs';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DAYS = 10;
const { values } = parseArgs({ options: { rows: { type: 'string', default: '5000000' } } });
const rows = Number(values.rows);

const root = mkdtempSync(join(tmpdir(), 'gatehouse-backup-bench-'));
chmodSync(root, 0o755);

/** Runs a command and resolves with its seconds and the most memory it had, in MiB. */
async function measure(home, ...args) {
  const began = performance.now();
  const env = { PATH: process.env.PATH, GATEHOUSE_HOME: home };
  const child = spawn(process.execPath, [join(ROOT, 'tools/dist/cli.js'), ...args], { env, stdio: 'inherit' });
  let peak = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has ended.
    }
  }, 100);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`);
  return { seconds: (performance.now() - began) / 1000, peak };
}

async function fill(home) {
  const server = await startEmbeddedPostgres({ home, durable: false });
  try {
    for (const app of ['proxy-gateway', 'resource-sharing', 'tunnel-gateway']) {
      const env = { PATH: process.env.PATH, DATABASE_URL: server.url(), GATEHOUSE_HOME: home };
      await run(process.execPath, [join(ROOT, 'apps', app, 'dist/migrate.js')], { env });
    }
    await withClient(server.url(), async (client) => {
      await client.query('SET search_path = proxy_gateway');
      for (let day = 0; day < DAYS; day += 1) {
        const at = (days) => `'2026-01-${String(1 + days).padStart(2, '0')} 00:00Z'`;
        const name = `traffic_logs_202601${String(1 + day).padStart(2, '0')}`;
        await client.query(
          `CREATE TABLE ${name} PARTITION OF traffic_logs FOR VALUES FROM (${at(day)}) TO (${at(day + 1)})`,
        );
        const share = Math.floor(rows / DAYS);
        await client.query(`INSERT INTO traffic_logs (started_at, ended_at, client_ip, client_port, inbound, network, method,
            host, target_port, url, rule_type, rule_payload, chains, node_id, upload, download, status, http_status, search_text)
          SELECT at, at, '192.168.1.' || n % 250, n % 60000, 'mixed', 'tcp', 'GET', 'host-' || md5(n::text) || '.example', 443,
            'https://host-' || md5(n::text) || '.example/path', 'DOMAIN-SUFFIX', 'example', '["PROXY", "n7"]', 7, n, n * 7,
            'ok', 200, 'host-' || md5(n::text) || '.example 192.168.1.' || n % 250 || ' n7 proxy mixed get'
          FROM (SELECT n, ${at(day)}::timestamptz + n * interval '1 millisecond' AS at FROM generate_series(1, ${share}) AS n) AS made`);
        await client.query('INSERT INTO traffic_log_days VALUES ($1, $2)', [`2026-01-${1 + day}`, share]);
      }
    });
  } finally {
    await server.stop();
  }
}

try {
  const [from, to, file] = [join(root, 'from'), join(root, 'to'), join(root, 'backup.gz')];
  for (const home of [from, to]) mkdirSync(home, { mode: 0o755 });
  writeFileSync(join(from, 'secret.key'), `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  cpSync(join(from, 'secret.key'), join(to, 'secret.key'));
  console.log(`Making ${rows.toLocaleString('en-US')} rows ...`);
  await fill(from);
  const backup = await measure(from, 'backup', file);
  const restore = await measure(to, 'restore', file);
  const size = statSync(file).size / 1024 / 1024;
  console.log();
  printTable(
    'backup',
    [
      ['rows', () => rows.toLocaleString('en-US')],
      ['file MiB', () => size.toFixed(0)],
      ['backup s', () => backup.seconds.toFixed(1)],
      ['backup MiB at most', () => backup.peak.toFixed(0)],
      ['restore s', () => restore.seconds.toFixed(1)],
      ['restore MiB at most', () => restore.peak.toFixed(0)],
    ],
    [{}],
  );
} finally {
  rmSync(root, { recursive: true, force: true });
}
