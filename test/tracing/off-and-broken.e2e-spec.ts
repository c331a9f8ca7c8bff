import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { reservePort, waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { RunningProxyGateway } from '../support/proxy-gateway.js';
import { beginTrace, StandInCollector } from '../support/stand-in-collector.js';
import { TIME_LIMIT } from './time-limit.js';

const BUNDLES = fileURLToPath(new URL('../../apps/', import.meta.url));
/** Prints the address of every module that the program loads. */
const WATCH = `data:text/javascript,${encodeURIComponent(
  "import { registerHooks } from 'node:module'; import { writeSync } from 'node:fs';" +
    "registerHooks({ load(url, context, next) { writeSync(2, 'loads ' + url + '\\n'); return next(url, context); } });",
)}`;

/** The files of the service's bundle that a start loads. */
async function loadedFiles(settings: Record<string, string>): Promise<string[]> {
  await using gateway = await RunningProxyGateway.start({ NODE_OPTIONS: `--import=${WATCH}`, ...settings });
  return [
    ...new Set(
      [...gateway.printed.matchAll(/loads file:\S+\/apps\/proxy-gateway\/bundle\/(\S+)/g)].map(
        ([, file]) => file ?? '',
      ),
    ),
  ];
}

function hasSdk(app: string, file: string): boolean {
  return readFileSync(`${BUNDLES}${app}/bundle/${file}`, 'utf8').includes('node_modules/@opentelemetry/sdk-trace/');
}

describe('tracing that is off', TIME_LIMIT, () => {
  it.each([
    ['proxy-gateway', 'main.js'],
    ['resource-sharing', 'main.js'],
    ['tunnel-gateway', 'main.js'],
    ['tunnel-gateway', 'edge/edge-main.js'],
  ])('is a file of its own in the bundle of %s, apart from %s', (app, program) => {
    expect(hasSdk(app, program)).toBe(false);
    const files = readdirSync(`${BUNDLES}${app}/bundle`).filter((file) => file.endsWith('.js'));
    expect(files.some((file) => hasSdk(app, file))).toBe(true);
  });

  it('loads nothing of it', async () => {
    await using collector = await StandInCollector.start();
    const off = await loadedFiles({});
    expect(off).toContain('main.js');
    expect(off.filter((file) => hasSdk('proxy-gateway', file))).toEqual([]);
    const disabled = await loadedFiles({ ...collector.settings, OTEL_SDK_DISABLED: 'true' });
    expect(disabled.filter((file) => hasSdk('proxy-gateway', file))).toEqual([]);
    const on = await loadedFiles(collector.settings);
    expect(on.filter((file) => hasSdk('proxy-gateway', file))).toHaveLength(1);
  });
});

describe('a collector that is', TIME_LIMIT, () => {
  async function silentServer(): Promise<Server> {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  /** Many requests, none of which may fail, and the lines of the log about tracing. */
  async function use(endpoint: string): Promise<{ statuses: Set<number>; gateway: RunningProxyGateway }> {
    const gateway = await RunningProxyGateway.start({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    const statuses = new Set<number>();
    for (let round = 0; round < 40; round += 1) {
      const answers = Array.from({ length: 20 }, () =>
        fetch(`${gateway.url}/api/v1/auth/login`, { headers: { traceparent: beginTrace().traceparent } }),
      );
      for (const answer of await Promise.all(answers)) {
        await answer.arrayBuffer();
        statuses.add(answer.status);
      }
    }
    return { statuses, gateway };
  }

  const warnings = (gateway: RunningProxyGateway): string[] =>
    gateway.printed.split('\n').filter((line) => line.includes('"context":"Tracing"'));

  it('not there fails no request, and is one line of the log', async () => {
    const { statuses, gateway } = await use(`http://127.0.0.1:${await reservePort()}`);
    await using _ = gateway;
    expect([...statuses]).toEqual([405]);
    await waitFor(() => warnings(gateway).length > 0);
    expect(warnings(gateway)).toHaveLength(1);
    expect(JSON.parse(warnings(gateway)[0] ?? '')).toMatchObject({
      level: 'warn',
      reason: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('silent fails no request', async () => {
    const server = await silentServer();
    const { statuses, gateway } = await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await using _ = gateway;
    expect([...statuses]).toEqual([405]);
    server.closeAllConnections();
    server.close();
  });
});

describe('the log', TIME_LIMIT, () => {
  it('has the trace of a request', async () => {
    await using collector = await StandInCollector.start();
    await using gateway = await RunningProxyGateway.start({ ...collector.settings, LOG_LEVEL: 'debug' });
    const { traceId, traceparent } = beginTrace();
    await (await fetch(`${gateway.url}/api/v1/nothing`, { headers: { traceparent } })).arrayBuffer();
    const line = await waitFor(() =>
      gateway.printed.split('\n').find((found) => found.includes('"request_id"') && found.includes(traceId)),
    );
    expect(JSON.parse(line)).toMatchObject({ trace_id: traceId });
  });
});
