// Five thousand subscriptions that are all due at once: how fast they go out, and what the API feels of it
// npm run bench -- schedules [count] [seconds]
import { once } from 'node:events';
import { createServer } from 'node:http';
import pg from 'pg';
import { cpuSeconds } from './processes.mjs';
import { startProxyGateway } from './services/proxy-gateway.mjs';
import { printTable } from './table.mjs';

const COUNT = Number(process.argv[2] ?? 5_000);
const SECONDS = Number(process.argv[3] ?? 60);

let asked = 0;
const provider = createServer((request, response) => {
  asked++;
  const user = Buffer.from(`aes-128-gcm:${request.url}`).toString('base64url');
  response.end(Array.from({ length: 10 }, (_, i) => `ss://${user}@198.51.100.${i}:8388#n${i}`).join('\n'));
}).listen(0, '127.0.0.1');
await once(provider, 'listening');
const gateway = await startProxyGateway();
try {
  await gateway.call('POST', '/subscriptions', {
    name: 'first',
    url: `http://127.0.0.1:${provider.address().port}/`,
    enabled: false,
    allow_private: true,
  });
  const client = new pg.Client({ connectionString: gateway.databaseUrl, options: '-c search_path=proxy_gateway' });
  await client.connect();
  const columns = 'name, sealed_url, type, interval_sec, enabled, allow_private';
  const began = performance.now();
  await client.query(
    `INSERT INTO subscriptions (${columns}, next_refresh_at)
     SELECT name || i, sealed_url, type, 3600, true, true, now() - random() * interval '2 hours'
     FROM subscriptions, generate_series(1, ${COUNT}) i`,
  );
  console.log(`${COUNT} subscriptions inserted in ${Math.round(performance.now() - began)} ms, all of them overdue`);
  const cpu = cpuSeconds(gateway.pid);
  const waits = [];
  let most = 0;
  for (let second = 0; second < SECONDS; second++) {
    const before = asked;
    const until = performance.now() + 1000;
    while (performance.now() < until) {
      const start = performance.now();
      await fetch(`${gateway.base}/healthz`).then((response) => response.arrayBuffer());
      waits.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    most = Math.max(most, asked - before);
  }
  waits.sort((a, b) => a - b);
  const { rows } = await client.query(
    `SELECT count(*) FILTER (WHERE last_checked_at IS NOT NULL)::int AS done,
       count(*) FILTER (WHERE dispatched_at IS NOT NULL)::int AS under_way FROM subscriptions`,
  );
  await client.end();
  const p99 = waits[Math.floor(waits.length * 0.99)];
  const cpuUsed = cpuSeconds(gateway.pid) - cpu;
  printTable(
    'overdue',
    [
      ['subscriptions, all overdue', () => COUNT],
      ['seconds', () => SECONDS],
      ['refreshed', ({ done }) => done],
      ['under way', ({ under_way: underWay }) => underWay],
      ['requests in a second at most', () => most],
      ['/healthz p99 ms', () => p99.toFixed(1)],
      ['worst ms', () => waits.at(-1).toFixed(0)],
      ['CPU s', () => cpuUsed.toFixed(1)],
    ],
    rows,
  );
} finally {
  await gateway.end();
  provider.close();
}
