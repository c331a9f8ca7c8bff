import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { startHttpOrigin, waitFor } from '@gatehouse/testing';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  freePorts,
  LaunchedPlatform,
  PORT_VARIABLES,
  processesOf,
  temporaryHome,
  type Ports,
} from './launched-platform.js';

interface State {
  databaseUrl: string;
  services: { name: string; pid: number; url: string }[];
}

const STOP_SECONDS = 5;
const FLOWS = 30;
const TIMEOUT_MS = 120_000;

function readState(home: string): State {
  return JSON.parse(readFileSync(join(home, 'state.json'), 'utf8')) as State;
}

const METRICS_PORTS = {
  PROXY_GATEWAY_METRICS_PORT: '0',
  RESOURCE_SHARING_METRICS_PORT: '0',
  TUNNEL_GATEWAY_METRICS_PORT: '0',
};
/** Lines of Prometheus' text format, version 0.0.4. */
const PROMETHEUS_LINE =
  /^(# (HELP|TYPE) [a-zA-Z_:][\w:]* .+|[a-zA-Z_:][\w:]*(\{([a-zA-Z_]\w*="([^"\\\n]|\\[\\"n])*",?)*\})? (-?[\d.]+(e[+-]?\d+)?|[+-]Inf|Na[Nn]))$/;

/** The service shows its metrics on a port of their own: not on its public one, and not through the proxy. */
async function expectMetricsApart(home: string, name: string, url: string, ports: Ports): Promise<void> {
  const lines = readFileSync(join(home, 'logs', `${name}.log`), 'utf8').split('\n');
  const port = Number(/"metricsPort":(\d+)/.exec(lines.findLast((line) => line.includes('"metricsPort"')) ?? '')?.[1]);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const metrics = (await answer.text()).split('\n').filter((line) => line !== '');
  expect(metrics.length).toBeGreaterThan(50);
  expect(metrics.filter((line) => !PROMETHEUS_LINE.test(line))).toEqual([]);
  if (name !== 'proxy-gateway') return;
  const through = request({ port: ports.PROXY_KERNEL_PORT, path: `http://127.0.0.1:${port}/metrics` }).end();
  const [refused] = (await once(through, 'response')) as [IncomingMessage];
  refused.resume();
  expect(refused.statusCode).toBe(403);
}

/** One request, on a connection of its own. */
async function getThroughProxy(port: number, url: string): Promise<void> {
  const asked = request({ port, path: url, headers: { host: new URL(url).host }, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  expect(answer.resume().statusCode).toBe(200);
  await once(answer, 'end');
}

/** The kernel says that every flow has ended. */
async function waitForNoConnection(home: string, service: string): Promise<void> {
  const password = readFileSync(join(home, 'first-login.txt'), 'utf8').trim();
  const headers = { 'content-type': 'application/json' };
  const login = await fetch(`${service}/api/v1/auth/login`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ password }),
  });
  const { token } = (await login.json()) as { token: string };
  await waitFor(
    async () => {
      const answer = await fetch(`${service}/api/v1/connections`, { headers: { authorization: `Bearer ${token}` } });
      return ((await answer.json()) as { connections: unknown[] }).connections.length === 0;
    },
    { timeoutMs: 30_000, intervalMs: 1 },
  );
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe.skipIf(process.platform !== 'linux')('npm start', { timeout: TIMEOUT_MS }, () => {
  let home: string;
  let ports: Ports;
  const launched: LaunchedPlatform[] = [];
  const launch = (folder = home, at = ports, extra: Record<string, string> = {}): LaunchedPlatform => {
    const platform = new LaunchedPlatform(folder, at, extra);
    launched.push(platform);
    return platform;
  };

  beforeAll(async () => {
    home = temporaryHome('gatehouse start ');
    ports = await freePorts();
  });

  afterEach(async () => {
    for (const platform of launched.splice(0)) {
      if (platform.child.exitCode === null && platform.child.signalCode === null) await platform.stop('SIGTERM');
    }
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it('prints one table with addresses and the first password, and Ctrl-C leaves nothing running', async () => {
    const platform = await launch(home, ports, METRICS_PORTS).ready();
    for (const name of PORT_VARIABLES) expect(platform.output).toContain(`127.0.0.1:${ports[name]}`);
    const file = join(home, 'first-login.txt');
    expect(platform.output).toContain(`First login: ${readFileSync(file, 'utf8').trim()} `);
    for (const name of ['first-login.txt', 'state.json']) expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
    for (const { url } of readState(home).services) expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const page = await fetch(`http://127.0.0.1:${ports.PROXY_GATEWAY_PORT}/`);
    expect(await page.text()).toContain('<div id="console">');
    for (const { name, url } of readState(home).services) await expectMetricsApart(home, name, url, ports);
    await query(readState(home).databaseUrl, 'CREATE TABLE public.kept (n int); INSERT INTO public.kept VALUES (7)');

    const { code, seconds } = await platform.stop('SIGINT');
    expect({ code, errors: platform.errors.match(/error/i) }).toEqual({ code: 0, errors: null });
    expect(seconds).toBeLessThan(STOP_SECONDS);
    expect(processesOf(home)).toEqual([]);
  });

  describe('again', () => {
    let platform: LaunchedPlatform;
    beforeAll(async () => {
      platform = await new LaunchedPlatform(home, ports).ready();
    }, TIMEOUT_MS);
    afterAll(async () => {
      await platform.stop();
      expect(processesOf(home)).toEqual([]);
    });

    it('has the same data, and does not show the password again', async () => {
      expect(platform.output).not.toContain(readFileSync(join(home, 'first-login.txt'), 'utf8').trim());
      expect(platform.output).toContain(join(home, 'first-login.txt'));
      expect(await query(readState(home).databaseUrl, 'SELECT n FROM public.kept')).toEqual([{ n: 7 }]);
    });

    it('refuses a second start in the same home, naming the first', async () => {
      const second = launch(home, await freePorts());
      expect((await second.ended).code).toBe(1);
      expect(second.errors).toContain(`already runs in ${home} (pid ${platform.pid})`);
      const third = launch(home, await freePorts(), { LC_ALL: 'zh_CN.UTF-8', LANGUAGE: '' });
      expect((await third.ended).code).toBe(1);
      expect(third.errors).toContain(`Gatehouse 已在 ${home} 中运行（PID ${platform.pid}）。`);
      expect((await fetch(`${readState(home).services[0]?.url}/healthz`)).status).toBe(200);
    });

    it('names wrong settings in the language of the terminal', async () => {
      const wrong = { BACKUP_EVERY: 'daily', LOG_LEVEL: 'loud' };
      const started = launch(home, await freePorts(), { ...wrong, LC_ALL: 'zh_CN.UTF-8', LANGUAGE: '' });
      expect((await started.ended).code).toBe(1);
      expect(started.errors).toContain('BACKUP_EVERY=daily 不是 1m 到 31d 之间的时间，例如 24h。');
      expect(started.errors).toContain('设置了 BACKUP_EVERY，但没有设置备份目录 BACKUP_DIR。');
      expect(started.errors).toContain('LOG_LEVEL: "loud" 无效；要求：debug、info、warn、error、silent 之一');
    });

    it('runs beside another platform with a separate home and ports', async () => {
      const otherHome = temporaryHome('gatehouse-other-');
      try {
        const other = await launch(otherHome, await freePorts()).ready();
        expect(readState(home).databaseUrl).not.toBe(readState(otherHome).databaseUrl);
        await other.stop();
        expect(processesOf(otherHome)).toEqual([]);
        expect((await fetch(`${readState(home).services[0]?.url}/healthz`)).status).toBe(200);
      } finally {
        rmSync(otherHome, { recursive: true, force: true });
      }
    });

    it('restarts a killed service, with no row of the traffic log lost', async () => {
      const [service] = readState(home).services;
      const origin = await startHttpOrigin();
      const through = Array.from({ length: FLOWS }, () => getThroughProxy(ports.PROXY_KERNEL_PORT, `${origin.url}/`));
      await Promise.all(through);
      await waitForNoConnection(home, service?.url ?? '');
      process.kill(service?.pid ?? 0, 'SIGKILL');
      await waitFor(() => platform.errors.includes('is back'), { timeoutMs: 30_000 });
      expect((await fetch(`${service?.url}/readyz`)).status).toBe(200);
      // Other commands find it there.
      expect(readState(home).services.map(({ url }) => url)).toContain(service?.url);
      const rows = async (): Promise<unknown> =>
        (
          await query(
            readState(home).databaseUrl,
            `SELECT count(*)::int AS rows FROM proxy_gateway.traffic_logs WHERE target_port = ${Number(new URL(origin.url).port)}`,
          )
        )[0]?.rows;
      await waitFor(async () => (await rows()) === FLOWS, { timeoutMs: 30_000 });
      await origin.close();
    });

    // The last of them: it ends the platform of those before it.
    it('starts cleanly after its supervisor was killed, with no row lost, and exits with 143 on SIGTERM', async () => {
      await query(readState(home).databaseUrl, 'INSERT INTO public.kept VALUES (8)');
      process.kill(platform.pid, 'SIGKILL');
      await platform.ended;
      platform = await new LaunchedPlatform(home, ports).ready();
      expect(await query(readState(home).databaseUrl, 'SELECT n FROM public.kept ORDER BY n')).toEqual([
        { n: 7 },
        { n: 8 },
      ]);
      const { code, seconds } = await platform.stop('SIGTERM');
      expect(code).toBe(143);
      expect(seconds).toBeLessThan(STOP_SECONDS);
      expect(processesOf(home)).toEqual([]);
    });
  });

  it.each(PORT_VARIABLES)('reports in one line that the port of %s is taken, and starts nothing', async (variable) => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(ports[variable], '127.0.0.1', resolve));
    try {
      const platform = launch();
      expect((await platform.ended).code).toBe(1);
      expect(platform.errors.trim()).toBe(
        `gatehouse: port ${ports[variable]} is taken: set ${variable} to a free one.`,
      );
      expect(processesOf(home)).toEqual([]);
    } finally {
      await new Promise((resolve) => blocker.close(resolve));
    }
  });

  it('ends with the error of a service that cannot start, and leaves nothing running', async () => {
    const platform = launch(home, ports, { GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64') });
    expect((await platform.ended).code).toBe(1);
    expect(platform.errors).toMatch(/^gatehouse: [a-z-]+ cannot start: .*GATEHOUSE_SECRET_KEY/m);
    expect(processesOf(home)).toEqual([]);
  });

  it('stops cleanly when it is interrupted while starting', async () => {
    const platform = launch();
    await waitFor(() => processesOf(home).some((line) => line.includes('apps/')), { timeoutMs: 30_000 });
    const { seconds } = await platform.stop('SIGTERM');
    expect(seconds).toBeLessThan(STOP_SECONDS);
    expect(processesOf(home)).toEqual([]);
  });
});
