import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningProxyGateway } from '../support/proxy-gateway.js';
import { beginTrace, StandInCollector, type ReceivedSpan } from '../support/stand-in-collector.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';
import { TIME_LIMIT } from './time-limit.js';

const WORKER = fileURLToPath(new URL('../../apps/proxy-gateway/bundle/worker.js', import.meta.url));
const SECRET = 'a-secret-token';

let collector: StandInCollector;
let target: { url: string; headers: IncomingHttpHeaders[] };
const running = new AsyncDisposableStack();
beforeAll(async () => {
  collector = running.use(await StandInCollector.start());
  target = await startTarget();
}, 30_000);
afterAll(() => running.disposeAsync());

/** A server outside the platform: a provider with one node, and a receiver of webhooks. */
async function startTarget(): Promise<typeof target> {
  const headers: IncomingHttpHeaders[] = [];
  const link = `ss://${Buffer.from('aes-128-gcm:secret').toString('base64url')}@192.0.2.1:8388#one`;
  const server = createServer((request: IncomingMessage, response) => {
    headers.push(request.headers);
    request.resume().on('end', () => response.end(link));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.defer(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${SECRET}?token=${SECRET}`, headers };
}

async function startWorker(env: NodeJS.ProcessEnv): Promise<void> {
  const worker = fork(WORKER, [], { env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  running.defer(async () => {
    worker.kill('SIGTERM');
    await once(worker, 'exit');
  });
  const [message] = (await once(worker, 'message')) as [{ type: string }];
  expect(message.type).toBe('ready');
}

/** The spans from one up to the root of its trace, by name. */
function pathOf(spans: readonly ReceivedSpan[], last: ReceivedSpan | undefined): string[] {
  const path: string[] = [];
  for (let span = last; span !== undefined; span = spans.find(({ spanId }) => spanId === span?.parentId)) {
    path.unshift(`${span.service}: ${span.name}`);
  }
  return path;
}

const isOutgoing = ({ kind, values }: ReceivedSpan): boolean => kind === 'client' && 'http.request.method' in values;

describe('work of a job', TIME_LIMIT, () => {
  it('is in the trace of the request that wanted it: a refresh, in a worker of its own', async () => {
    const gateway = running.use(await RunningProxyGateway.start({ ...collector.settings, WORKERS: 'separate' }));
    await startWorker(gateway.environment);
    const { id } = await gateway.call<{ id: number }>('POST', '/subscriptions', {
      name: 'one',
      url: target.url,
      allow_private: true,
    });
    const { traceId, traceparent } = beginTrace();
    await gateway.call('POST', `/subscriptions/${id}/refresh`, undefined, { traceparent });
    const spans = await collector.trace(
      traceId,
      (found) => found.some(({ kind }) => kind === 'server') && found.some(({ kind }) => kind === 'consumer'),
    );
    const outgoing = spans.find(isOutgoing);
    expect(pathOf(spans, outgoing)).toEqual([
      'proxy-gateway: POST /api/v1/subscriptions/:id/refresh',
      'proxy-gateway: send subscription-refresh',
      'proxy-gateway-worker: process subscription-refresh',
      'proxy-gateway-worker: GET',
    ]);
    expect(outgoing?.values).toMatchObject({ 'http.response.status_code': 200, 'server.address': '127.0.0.1' });
    const job = spans.find(({ kind }) => kind === 'consumer');
    expect(job?.values).toMatchObject({
      'messaging.system': 'bullmq',
      'messaging.destination.name': 'subscription-refresh',
    });
    const statements = spans.filter(({ parentId, values }) => parentId === job?.spanId && 'db.query.text' in values);
    expect(statements.length).toBeGreaterThan(0);
    expect(collector.received).not.toContain(SECRET);
    expect(target.headers.at(-1)).not.toHaveProperty('traceparent');
  });

  it('is in the trace of the request that wanted it: a message to a webhook', async () => {
    const tunnel = running.use(await RunningTunnelGateway.start('password', collector.settings));
    const { id } = await tunnel.call('POST', '/webhooks', { name: 'one', url: target.url });
    const { traceId, traceparent } = beginTrace();
    await tunnel.call('POST', `/webhooks/${id}/test`, undefined, { traceparent });
    const spans = await collector.trace(traceId, (found) => found.some(isOutgoing));
    const outgoing = spans.find(isOutgoing);
    expect(outgoing).toMatchObject({ name: 'POST', values: { 'http.response.status_code': 200 } });
    expect(target.headers.at(-1)).not.toHaveProperty('traceparent');
    expect(collector.received).not.toContain(SECRET);
  });
});

describe('a question to a data plane is in the trace of its request', TIME_LIMIT, () => {
  async function questionsOf(traceId: string): Promise<string[]> {
    const spans = await collector.trace(traceId, (found) => found.some(({ kind }) => kind === 'server'));
    return spans.filter(({ values }) => values['rpc.system.name'] === 'gatehouse').map(({ name }) => name);
  }

  it('to a kernel', async () => {
    const gateway = running.use(await RunningProxyGateway.start(collector.settings));
    const { traceId, traceparent } = beginTrace();
    await gateway.call('GET', '/connections', undefined, { traceparent });
    expect(await questionsOf(traceId)).toContain('kernel/connections');
  });

  it('to an edge', async () => {
    const tunnel = running.use(await RunningTunnelGateway.start('password', collector.settings));
    const id = await tunnel.clientWithAgent();
    const { traceId, traceparent } = beginTrace();
    await tunnel.call('GET', `/clients/${id}/connections`, undefined, { traceparent });
    expect(await questionsOf(traceId)).toContain('edge/connections');
  });
});
