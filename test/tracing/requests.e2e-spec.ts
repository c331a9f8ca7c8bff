import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningProxyGateway } from '../support/proxy-gateway.js';
import { RunningResourceSharing } from '../support/resource-sharing.js';
import { beginTrace, StandInCollector, type ReceivedSpan } from '../support/stand-in-collector.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';
import { TIME_LIMIT } from './time-limit.js';

let collector: StandInCollector;
const running = new AsyncDisposableStack();
beforeAll(async () => {
  collector = running.use(await StandInCollector.start());
}, 30_000);
afterAll(() => running.disposeAsync());

const isServer = ({ kind }: ReceivedSpan): boolean => kind === 'server';
const isStatement = ({ values }: ReceivedSpan): boolean => values['db.system.name'] === 'postgresql';

/** Sends one request as part of a trace, and returns the trace when its request has ended. */
async function request(
  url: string,
  init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
): Promise<{ status: number; spans: ReceivedSpan[]; parent: string }> {
  const { traceId, spanId, traceparent } = beginTrace();
  const answer = await fetch(url, { ...init, headers: { ...init.headers, traceparent } });
  await answer.arrayBuffer();
  const spans = await collector.trace(traceId, (found) => found.some(isServer));
  return { status: answer.status, spans, parent: spanId };
}

function expectOneTrace({ spans, parent }: { spans: ReceivedSpan[]; parent: string }, service: string): void {
  const [server, ...others] = spans.filter(isServer);
  expect(others).toEqual([]);
  expect(server).toMatchObject({ service, parentId: parent });
  const statements = spans.filter(isStatement);
  expect(statements.length).toBeGreaterThan(0);
  for (const span of statements) {
    expect(span).toMatchObject({ service, kind: 'client', parentId: server?.spanId });
    expect(span.values['db.query.text']).toBeTypeOf('string');
    expect(span.values['db.query.text']).not.toContain("'");
  }
}

describe('a request is one trace, which continues the caller’s and has its statements', TIME_LIMIT, () => {
  it('in proxy-gateway, and no secret is in it', async () => {
    const gateway = running.use(await RunningProxyGateway.start(collector.settings));
    const login = await request(`${gateway.url}/api/v1/auth/login?token=in-a-query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password: gateway.password }),
    });
    expect(login.status).toBe(200);
    expectOneTrace(login, 'proxy-gateway');
    expect(login.spans.find(isServer)).toMatchObject({
      name: 'POST /api/v1/auth/login',
      failed: false,
      values: {
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'http.route': '/api/v1/auth/login',
        'url.path': '/api/v1/auth/login',
        'url.scheme': 'http',
      },
    });
    const unknown = await request(`${gateway.url}/a-token-in-a-path`, {
      headers: { authorization: 'Bearer in-a-header' },
    });
    expect(unknown.spans.find(isServer)?.values).toMatchObject({
      'url.path': '/***',
      'http.response.status_code': 404,
    });
    for (const secret of [gateway.password, 'in-a-query', 'in-a-header', 'a-token-in-a-path']) {
      expect(collector.received).not.toContain(secret);
    }
  });

  it('in resource-sharing', async () => {
    const sharing = running.use(await RunningResourceSharing.start(collector.settings));
    const login = await request(`${sharing.url}/api/site/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: sharing.username, password: sharing.password }),
    });
    expectOneTrace(login, 'resource-sharing');
    expect(collector.received).not.toContain(sharing.password);
  });

  it('in tunnel-gateway', async () => {
    const tunnel = running.use(await RunningTunnelGateway.start('password', collector.settings));
    const login = await request(`${tunnel.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: tunnel.password }),
    });
    expectOneTrace(login, 'tunnel-gateway');
    expect(collector.received).not.toContain(tunnel.password);
  });
});
