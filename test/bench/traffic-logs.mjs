// Five million rows of the traffic log over thirty days: writing them, pages, keywords rare and common
// npm run bench -- traffic-logs [rows] [days]
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { AccountingBatch } from '../../apps/proxy-gateway/dist/traffic/accounting-batch.js';
import { sectionsOf, writeBatch } from '../../apps/proxy-gateway/dist/traffic/accounting-store.js';
import { flowNames } from '../../apps/proxy-gateway/dist/data/flow-names.js';
import { createPartitions, dropPartitionsBefore } from '../../apps/proxy-gateway/dist/traffic/log-partitions.js';
import { cpuSeconds, residentBytes } from './processes.mjs';
import { startProxyGateway } from './services/proxy-gateway.mjs';
import { loadLine, printTable, quantile } from './table.mjs';

const ROWS = Number(process.argv[2] ?? 5_000_000);
const DAYS = Number(process.argv[3] ?? 30);
const ROUNDS = Number(process.env.ROUNDS ?? 30);
const DAY_MS = 86_400_000;
const BATCH = 2_000;

let seed = 1;
const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
const below = (n) => Math.floor(random() * n);
/** Few values often, many seldom. */
const skewed = (n) => Math.floor(n * random() ** 3);
const WORDS = ['video', 'cdn', 'api', 'static', 'mail', 'news', 'shop', 'img', 'login', 'assets', 'cloud', 'game'];
const ZONES = ['example', 'test', 'invalid', 'example.net', 'example.org'];

const cards = new Map(
  Array.from({ length: 300 }, (_, i) => [
    i + 1,
    {
      id: i + 1,
      name: i % 2 ? `香港 ${i} 专线` : `Tokyo ${i}`,
      type: 'ss',
      country: i % 2 ? 'HK' : 'JP',
      alive: true,
      delayMs: 50,
      exitIp: null,
      subscriptionName: null,
    },
  ]),
);
const names = flowNames(cards);

/** Ninety of a hundred flows go to one of 20,000 known names, the others to names or addresses seen once. */
function target() {
  const kind = random();
  if (kind < 0.9) {
    const i = skewed(20_000);
    return {
      host: `${WORDS[i % 12]}${i}.${WORDS[(i >> 4) % 12]}.${ZONES[i % 5]}`,
      destinationIp: `198.${18 + (i >> 14)}.${(i >> 8) & 255}.${i & 255}`,
    };
  }
  if (kind < 0.95)
    return {
      host: `${below(2 ** 32).toString(16)}${below(2 ** 32).toString(16)}.tracker.example`,
      destinationIp: null,
    };
  return { host: null, destinationIp: `${1 + below(223)}.${below(256)}.${below(256)}.${below(256)}` };
}

function row(endedAt, index) {
  const node = 1 + skewed(300);
  const rule = skewed(200);
  return {
    id: `${index}`,
    network: 'tcp',
    type: 'HTTPS',
    sourceIp: `192.168.${below(3)}.${below(250)}`,
    sourcePort: 1_024 + below(60_000),
    inboundName: 'mixed',
    inboundUser: null,
    ...target(),
    destinationPort: 443,
    rule: {
      id: rule,
      index: rule,
      source: 'manual',
      type: 'DOMAIN-SUFFIX',
      payload: `${WORDS[rule % 12]}${rule}.example`,
      target: 'PROXY',
    },
    chain: ['PROXY', `n${node}`],
    nodeTag: `n${node}`,
    remoteDestination: '198.51.100.7',
    upload: below(5_000),
    download: below(200_000),
    uploadSpeed: 0,
    downloadSpeed: 0,
    startedAt: endedAt - below(30_000),
    state: 'open',
    endedAt,
    status: random() < 0.98 ? 'ok' : 'failed',
    httpStatus: null,
    errorStage: null,
    errorKind: null,
    errorErrno: null,
    errorMessage: null,
    closeReason: 'client_closed',
  };
}

const gateway = await startProxyGateway({ API_RATE_LIMIT: '0' });
let client = null;
try {
  client = new pg.Client({ connectionString: gateway.databaseUrl, options: '-c search_path=proxy_gateway' });
  await client.connect();
  // As the service's own connections read them.
  pg.types.setTypeParser(20, Number);
  const transaction = async (work) => {
    await client.query('BEGIN');
    const result = await work({ query: async (sql, parameters) => (await client.query(sql, parameters)).rows });
    await client.query('COMMIT');
    return result;
  };
  const end = Date.now();
  const start = end - (DAYS - 1) * DAY_MS;
  const days = Array.from({ length: DAYS + 1 }, (_, i) => Math.floor((start + i * DAY_MS) / DAY_MS) * DAY_MS);
  await transaction((tx) => createPartitions(tx, days));

  const writerId = randomUUID();
  const cost = { rows: 0, cpu: 0, began: performance.now(), sections: 0 };
  let open = null;
  const rareAt = Math.floor(ROWS * 0.37);
  for (let done = 0, sequence = 1; done < ROWS; sequence++) {
    const batch = new AccountingBatch();
    for (let i = done; i < Math.min(done + BATCH, ROWS); i++) {
      const record = row(Math.floor(start + ((end - start) * i) / ROWS), i);
      if (i === rareAt) record.host = 'needle-in-the-hay.example';
      batch.addRecord(record, true);
    }
    done += batch.logs.length;
    const cpu = process.cpuUsage();
    const sections = sectionsOf(batch, names, open);
    const planned = process.cpuUsage(cpu);
    cost.sections += (planned.user + planned.system) / 1e6;
    await transaction((tx) => writeBatch(tx, { writerId, sequence }, batch, names, sections));
    open = sections.open;
    const used = process.cpuUsage(cpu);
    cost.cpu += (used.user + used.system) / 1e6;
    cost.rows += batch.logs.length;
    if (sequence % 500 === 0)
      console.error(`${done} rows, ${Math.round(done / ((performance.now() - cost.began) / 1000))}/s`);
  }
  const seconds = (performance.now() - cost.began) / 1000;
  const { rows: sizes } = await client.query(
    `SELECT pg_size_pretty(sum(pg_total_relation_size(oid)) FILTER (WHERE relname LIKE 'traffic_logs%')) AS logs,
       pg_size_pretty(pg_total_relation_size('traffic_log_sections')) AS sections,
       (SELECT count(*) FROM traffic_log_sections) AS count
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'proxy_gateway'::regnamespace`,
  );
  console.log(
    `${ROWS} rows in ${DAYS} days written in ${seconds.toFixed(0)} s (${Math.round(ROWS / seconds)} rows/s, making them included); ` +
      `CPU of the writer ${((cost.cpu * 1e6) / ROWS).toFixed(1)} µs a row, ${((cost.sections * 1e6) / ROWS).toFixed(1)} of them for the search; ` +
      `logs ${sizes[0].logs}, ${sizes[0].count} sections ${sizes[0].sections}`,
  );

  const deep = await cursorAt(client, start + (end - start) * 0.1);
  const questions = [
    ['newest page', ''],
    ['newest 500', 'limit=500'],
    ['page behind 4.5 million, by cursor', `cursor=${deep}`],
    ['page behind nine tenths, by offset', `offset=${Math.floor(ROWS * 0.9)}`],
    ['keyword of one row', 'keyword=needle-in'],
    ['keyword of no row', 'keyword=does-not-exist-anywhere'],
    ['an address seen never', 'keyword=203.0.113.77'],
    ['a rare name', 'keyword=video19908'],
    ['keyword of most rows', 'keyword=example'],
    ['keyword of every other row', `keyword=${encodeURIComponent('香港')}`],
    ['one node', `keyword=${encodeURIComponent('tokyo 298')}`],
    ['two letters, everywhere', 'keyword=cd'],
    ['two letters, nowhere', 'keyword=qq'],
    ['most rows, behind nine tenths, by cursor', `keyword=example&cursor=${deep}`],
    ['most rows, offset 9,000', 'keyword=example&offset=9000'],
    ['500 of one node', `limit=500&keyword=${encodeURIComponent('tokyo 298')}`],
    // Reads every row there is.
    ['keyword of no row, all its pieces everywhere', 'keyword=tracker.example.net', 3],
  ];
  const rows = [];
  const before = residentBytes(gateway.pid);
  const cpu = cpuSeconds(gateway.pid);
  for (const [what, query, rounds = ROUNDS] of questions) {
    const times = [];
    let answer;
    for (let round = 0; round < rounds + 2; round++) {
      const began = performance.now();
      answer = await gateway.call('GET', `/traffic-logs?${query}`);
      // The first ones warm up.
      if (round >= 2) times.push(performance.now() - began);
    }
    rows.push({ what, times, answer });
  }
  console.log(loadLine());
  printTable(
    'pages',
    [
      ['page', ({ what }) => what],
      ['p50 ms', ({ times }) => quantile(times, 0.5).toFixed(1)],
      ['p95 ms', ({ times }) => quantile(times, 0.95).toFixed(1)],
      ['worst ms', ({ times }) => Math.max(...times).toFixed(0)],
      ['rows', ({ answer }) => answer.items.length],
      ['total', ({ answer }) => `${answer.total_exact ? '' : '≥ '}${answer.total}`],
    ],
    rows,
  );
  console.log(
    `service and kernel: ${((residentBytes(gateway.pid) - before) / 2 ** 20).toFixed(0)} MiB more after ${rows.length * ROUNDS} pages, ` +
      `${(((cpuSeconds(gateway.pid) - cpu) * 1e3) / (rows.length * (ROUNDS + 2))).toFixed(1)} ms of CPU a page`,
  );
  const dropping = performance.now();
  const dropped = await transaction((tx) => dropPartitionsBefore(tx, end - (DAYS / 2) * DAY_MS));
  console.log(`${dropped.length} partitions dropped in ${(performance.now() - dropping).toFixed(0)} ms`);
} finally {
  await client?.end();
  await gateway.end();
}

async function cursorAt(client, time) {
  const { rows } = await client.query(
    'SELECT ended_at, id FROM traffic_logs WHERE ended_at <= $1 ORDER BY ended_at DESC, id DESC LIMIT 1',
    [new Date(time)],
  );
  return `${rows[0].ended_at.getTime()}-${rows[0].id}`;
}
