import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { OtelCollector } from '../support/otel-collector.js';
import { optionalPeer } from '../support/peers.js';
import { beginTrace, StandInCollector } from '../support/stand-in-collector.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';
import { TIME_LIMIT } from './time-limit.js';

it('the OpenTelemetry Collector takes what services and edges send', TIME_LIMIT, async (context) => {
  const program = optionalPeer(context, 'otel-collector');
  const target = createServer((_, response) => response.end('served')).listen(0, '127.0.0.1');
  await once(target, 'listening');
  // It passes on what it understood.
  await using receiver = await StandInCollector.start();
  await using collector = await OtelCollector.start(program, receiver.url);
  await using gateway = await RunningTunnelGateway.start('password', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const asked = beginTrace();
  const host = 'traced.example.org';
  const target_addr = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
  const client_id = await gateway.clientWithAgent();
  await gateway.call('POST', '/hosts', { client_id, host, target_addr }, { traceparent: asked.traceparent });
  const spans = await receiver.trace(asked.traceId, (found) => found.some(({ kind }) => kind === 'server'));
  const server = spans.find(({ kind }) => kind === 'server');
  expect(server).toMatchObject({ service: 'tunnel-gateway', name: 'POST /api/v1/hosts', parentId: asked.spanId });
  const statements = spans.filter(({ values }) => values['db.system.name'] === 'postgresql');
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.every(({ parentId }) => parentId === server?.spanId)).toBe(true);

  const visited = beginTrace();
  await waitFor(async () => {
    const headers = { host, traceparent: visited.traceparent };
    const sent = request({ host: '127.0.0.1', port: gateway.ports.http, agent: false, headers }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.statusCode === 200;
  });
  const [visit] = await receiver.trace(visited.traceId, (found) => found.length > 0);
  expect(visit).toMatchObject({ service: 'tunnel-gateway-edge', name: 'GET /', parentId: visited.spanId });
  target.closeAllConnections();
  target.close();
});
