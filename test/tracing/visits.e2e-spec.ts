import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reservePort } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginTrace, StandInCollector, type ReceivedSpan } from '../support/stand-in-collector.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';
import { TIME_LIMIT } from './time-limit.js';

const HOST = 'traced.example.org';
const SERVICE = 'tunnel-gateway-edge';

let collector: StandInCollector;
let gateway: RunningTunnelGateway;
let client: number;
/** Requests as the target got them. */
const seen: IncomingMessage[] = [];
const target = createServer((received, response) => {
  seen.push(received);
  response.writeHead(received.url?.endsWith('/fails') ? 503 : 200).end('served');
});
target.on('upgrade', (received, socket) => {
  seen.push(received);
  socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
});

const running = new AsyncDisposableStack();
beforeAll(async () => {
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  collector = running.use(await StandInCollector.start());
  gateway = running.use(await RunningTunnelGateway.start('password', collector.settings));
  client = await gateway.clientWithAgent();
  // The path before the root: as long as it is unknown, nothing else answers in its place.
  const hosts = { '/shop': (target.address() as AddressInfo).port, '/': await reservePort() };
  for (const [location, port] of Object.entries(hosts)) {
    await gateway.call('POST', '/hosts', {
      client_id: client,
      host: HOST,
      location,
      target_addr: `http://127.0.0.1:${port}`,
    });
  }
}, TIME_LIMIT.timeout);
afterAll(async () => {
  await running.disposeAsync();
  target.closeAllConnections();
  target.close();
});

/** Visits a path until the host is known. */
async function visit(path: string, headers: Record<string, string> = {}): Promise<number> {
  for (;;) {
    const at = { host: '127.0.0.1', port: gateway.ports.http, path, headers: { ...headers, host: HOST }, agent: false };
    const sent = request(at).end();
    const [answer] = (await Promise.race([once(sent, 'response'), once(sent, 'upgrade')])) as [IncomingMessage];
    answer.resume();
    answer.socket.on('error', () => undefined);
    if (answer.statusCode !== 404) return answer.statusCode ?? 0;
  }
}

const isVisit = ({ kind, service }: ReceivedSpan): boolean => kind === 'server' && service === SERVICE;

async function traceOf(traceId: string): Promise<ReceivedSpan[]> {
  return (await collector.trace(traceId, (found) => found.some(isVisit))).filter(isVisit);
}

describe('a visit of a host', TIME_LIMIT, () => {
  it('is a span between those of the visitor and of the target, and shows nothing that only they know', async () => {
    const { traceId, spanId, traceparent } = beginTrace();
    const path = '/shop/a-token-in-a-path?key=in-a-query';
    expect(await visit(path, { traceparent, tracestate: 'a=1', authorization: 'Bearer in-a-header' })).toBe(200);
    const [span, ...others] = await traceOf(traceId);
    expect(others).toEqual([]);
    expect(span).toMatchObject({
      name: 'GET /shop',
      parentId: spanId,
      failed: false,
      values: {
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'http.route': '/shop',
        'network.protocol.version': '1.1',
        'server.address': HOST,
        'url.path': '/shop/***',
        'url.scheme': 'http',
        'gatehouse.client_id': client,
      },
    });
    expect(span?.values['gatehouse.host_id']).toBeTypeOf('number');
    expect(seen.at(-1)?.headers).toMatchObject({
      traceparent: `00-${traceId}-${span?.spanId}-01`,
      tracestate: 'a=1',
      authorization: 'Bearer in-a-header',
    });
    for (const secret of ['a-token-in-a-path', 'in-a-query', 'in-a-header']) {
      expect(collector.received).not.toContain(secret);
    }
  });

  it('begins a trace where the visitor has none, which the target can continue', async () => {
    expect(await visit('/shop/begins')).toBe(200);
    const [, traceId = '', spanId] =
      /^00-(\w{32})-(\w{16})-01$/.exec(String(seen.at(-1)?.headers['traceparent'])) ?? [];
    expect((await traceOf(traceId))[0]).toMatchObject({ parentId: '', spanId });
  });

  it.each([
    ['that the target cannot answer', '/nothing', 502, true, '502'],
    ['that the target answers with an error', '/shop/fails', 503, true, '503'],
    ['that becomes a WebSocket', '/shop/socket', 101, false, undefined],
  ])('%s says so', async (_, path, status, failed, type) => {
    const { traceId, traceparent } = beginTrace();
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    expect(await visit(path, { traceparent, ...(status === 101 && upgrade) })).toBe(status);
    const [span] = await traceOf(traceId);
    expect(span).toMatchObject({ failed, values: { 'http.response.status_code': status } });
    expect(span?.values['error.type']).toBe(type);
  });

  it('that the caller does not record is not recorded here, and the target learns of that', async () => {
    const { traceId, traceparent } = beginTrace();
    const unrecorded = traceparent.replace(/-01$/, '-00');
    expect(await visit('/shop/unrecorded', { traceparent: unrecorded })).toBe(200);
    expect(String(seen.at(-1)?.headers['traceparent'])).toMatch(new RegExp(`^00-${traceId}-\\w{16}-00$`));
    await visit('/shop/after');
    const [, last = ''] = /^00-(\w{32})-/.exec(String(seen.at(-1)?.headers['traceparent'])) ?? [];
    await traceOf(last);
    expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
  });
});
