// Frames of the proxy console in a real Chromium: 5,000 live connections and 50,000 finished ones, scrolled from end to end
// npm run bench -- console
// Needs the Chromium of `npm run peers`. It draws without a graphics card, so a reader's own browser is not slower.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { chromium } from 'playwright-core';
import { openConnections } from './api/open-connections.mjs';
import { startScript, stop, stopAll } from './processes.mjs';
import { startProxyGateway } from './services/proxy-gateway.mjs';
import { loadLine, printTable, quantile } from './table.mjs';

const CONNECTIONS = 5_000;
const LOGS = 50_000;
const SECONDS = 10;
/** A screen shows 60 frames a second; a list that jerks misses more than one frame at a time. */
const [FRAME_MS, TARGET_MEDIAN_MS, TARGET_P99_MS] = [1_000 / 60, 17, 34];

const gateway = await startProxyGateway({ API_RATE_LIMIT: '1000000' });
const browser = await chromium.launch({
  executablePath: path.join(process.env.GATEHOUSE_PEERS_BIN, 'chromium'),
  // Its sandbox needs rights that containers do not grant.
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const rows = [];
try {
  const { first: ports } = await startScript(fileURLToPath(new URL('api/loopback.mjs', import.meta.url)));
  const page = await signIn();
  const { connections } = await openConnections(gateway, { port: ports.echo, count: CONNECTIONS });
  await page.goto(`${gateway.base}/#/connections`);
  rows.push(await scroll(page, 'Connections', `${CONNECTIONS} live connections`));
  await stop(connections);
  await addFinishedConnections();
  await page.goto(`${gateway.base}/#/traffic`);
  await readAll(page, 'Traffic log');
  rows.push(await scroll(page, 'Traffic log', `${LOGS} entries of the traffic log`));
} finally {
  await browser.close();
  await gateway.end();
  await stopAll();
}
console.log(`\nScrolled for ${SECONDS} s, with live updates; ${loadLine()}`);
printTable(
  'frames',
  [
    ['list', ({ what }) => what],
    [
      'frames a second',
      ({ times }) => (1_000 / (times.reduce((sum, time) => sum + time, 0) / times.length)).toFixed(1),
    ],
    ['median ms', ({ times }) => quantile(times, 0.5).toFixed(1)],
    ['p99 ms', ({ times }) => quantile(times, 0.99).toFixed(1)],
    ['worst ms', ({ times }) => Math.max(...times).toFixed(1)],
    ['late by a frame or more', ({ times }) => times.filter((time) => time > 1.5 * FRAME_MS).length],
    ['CPU s of Chromium', ({ cpu }) => cpu.toFixed(1)],
    ['target', () => `median ≤ ${TARGET_MEDIAN_MS}, p99 ≤ ${TARGET_P99_MS}`],
  ],
  rows,
);
const missed = rows.filter(
  ({ times }) => quantile(times, 0.5) > TARGET_MEDIAN_MS || quantile(times, 0.99) > TARGET_P99_MS,
);
if (missed.length > 0) console.log(`${missed.length} lists miss the target`);
process.exit(missed.length > 0 ? 1 : 0);

async function signIn() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en' });
  await page.goto(gateway.base);
  const secret = page.locator('input[type=password]');
  await secret.fill(gateway.password);
  await secret.press('Enter');
  await page.locator('.side a').first().waitFor({ state: 'attached' });
  return page;
}

/** Down and up again at the speed of a fast reader: two thousand pixels a second, and a jump to each end on the way. */
async function scroll(page, list, what) {
  const box = page.getByRole('region', { name: list });
  await box.waitFor();
  await page.getByRole('table', { name: list }).getByRole('row').nth(5).waitFor();
  const cpu = await cpuOfBrowser();
  const times = await box.evaluate(async (element, seconds) => {
    const times = [];
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const began = await frame();
    let last = began;
    let step = 2_000 / 60;
    while (last - began < seconds * 1_000) {
      element.scrollTop += step;
      const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
      if (isAtEnd || element.scrollTop === 0) step = -step;
      // Every second somewhere else, as one who drags the scroll bar.
      if (times.length % 60 === 59) element.scrollTop = (element.scrollHeight * ((times.length * 7) % 10)) / 10;
      const now = await frame();
      times.push(now - last);
      last = now;
    }
    return times;
  }, SECONDS);
  return { what, times, cpu: (await cpuOfBrowser()) - cpu };
}

/** The log reads on while its reader scrolls. */
async function readAll(page, list) {
  const box = page.getByRole('region', { name: list });
  await box.waitFor();
  let height = 0;
  for (let unchanged = 0; unchanged < 20;) {
    const now = await box.evaluate((element) => {
      element.scrollTop = element.scrollHeight;
      return element.scrollHeight;
    });
    unchanged = now === height ? unchanged + 1 : 0;
    height = now;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await box.evaluate((element) => (element.scrollTop = 0));
}

/** Of all its processes. */
async function cpuOfBrowser() {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

async function addFinishedConnections() {
  const client = new pg.Client({ connectionString: gateway.databaseUrl });
  await client.connect();
  await client.query('SET search_path = proxy_gateway');
  await client.query(
    `INSERT INTO traffic_logs (started_at, ended_at, client_ip, client_port, inbound, network, host, target_port, chains,
        upload, download, status, close_reason, search_text)
      SELECT at, at, '192.0.2.1', 40000, 'mixed', 'tcp', host, 443, '["DIRECT"]', 300, n, 'ok', 'remote_closed', host
      FROM (SELECT n, date_trunc('day', now(), 'UTC') + n * interval '10 microseconds' AS at,
          'host' || n || '.example' AS host
        FROM generate_series(1, $1::integer) AS n ORDER BY n) AS rows`,
    [LOGS],
  );
  await client.query(
    `INSERT INTO traffic_log_days VALUES ((now() AT TIME ZONE 'UTC')::date, $1)
      ON CONFLICT (day) DO UPDATE SET row_count = traffic_log_days.row_count + EXCLUDED.row_count`,
    [LOGS],
  );
  await client.end();
}
