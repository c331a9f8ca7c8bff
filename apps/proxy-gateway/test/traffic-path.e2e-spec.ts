import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createDataSource } from '@gatehouse/persistence';
import { startTcpEcho, waitFor } from '@gatehouse/testing';
import type { TcpEcho } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';

/** Real flows through the real kernel, as the API shows them. */
describe('traffic through the kernel', () => {
  let gateway: Gateway;
  let echo: TcpEcho;
  beforeAll(async () => {
    [gateway, echo] = await Promise.all([startGateway(), startTcpEcho()]);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await echo.close();
  });

  /** An HTTP CONNECT tunnel, open and ready for bytes. */
  async function tunnel(host = '127.0.0.1', port = echo.port): Promise<Socket> {
    const socket = connect(gateway.proxyPort, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.[01] 200 /);
    return socket;
  }

  async function exchange(socket: Socket, bytes: number): Promise<void> {
    let received = 0;
    const done = new Promise<void>((resolve) =>
      socket.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received === bytes) resolve();
      }),
    );
    socket.write(Buffer.alloc(bytes, 7));
    await done;
  }

  /** An error on the way counts as part of it. */
  function closeOf(socket: Socket): Promise<void> {
    socket.resume();
    return new Promise((resolve) => socket.once('close', () => resolve()));
  }

  async function shut(socket: Socket): Promise<void> {
    const closed = closeOf(socket);
    socket.end();
    await closed;
  }

  const logs = async (query = '') => (await gateway.call('GET', `/traffic-logs${query}`)).body;
  const loggedAbout = (keyword: string, count: number) =>
    waitFor(async () => {
      const page = await logs(`?keyword=${keyword}&limit=500`);
      return page.total === count ? page.items : null;
    });

  it('reports the same route before, during and after a connection, and counts its bytes exactly', async () => {
    const rule = await gateway.call('POST', '/rules', { type: 'IP-CIDR', payload: '127.0.0.1/32', target: 'PROXY' });
    expect(rule.status).toBe(201);
    const { body: foretold } = await gateway.call('POST', '/rules/test', { url: `127.0.0.1:${echo.port}` });
    const socket = await tunnel();
    await exchange(socket, 70_000);
    const open = await waitFor(async () => {
      const { body } = await gateway.call('GET', '/connections');
      return body.connections.find((each: { download: number }) => each.download === 70_000);
    });
    expect(open).toMatchObject({
      network: 'tcp',
      type: 'HTTPS',
      destination_ip: '127.0.0.1',
      destination_port: echo.port,
      rule: 'IP-CIDR',
      rule_payload: '127.0.0.1/32',
      rule_id: rule.body.id,
      upload: 70_000,
      download: 70_000,
      state: 'open',
    });
    expect(foretold).toMatchObject({
      matched: true,
      target: 'PROXY',
      rule: { id: open.rule_id, type: open.rule, payload: open.rule_payload },
      chain: open.chains,
    });
    await shut(socket);
    const [row] = await loggedAbout('127.0.0.1', 1);
    expect(row).toMatchObject({
      client_ip: '127.0.0.1',
      inbound: 'mixed',
      network: 'tcp',
      target_port: echo.port,
      destination_ip: '127.0.0.1',
      rule_id: rule.body.id,
      rule_type: 'IP-CIDR',
      chains: open.chains,
      upload: 70_000,
      download: 70_000,
      status: 'ok',
      error_stage: null,
    });
    const counted = await waitFor(async () => {
      const { body } = await gateway.call('GET', '/rules');
      return body.items[0].hit_count > 0 ? body.items[0] : null;
    });
    expect(counted).toMatchObject({ hit_count: 1, hit_at: expect.stringMatching(/Z$/) });
  });

  it('applies a rule before its creation is answered', async () => {
    const rule = await gateway.call('POST', '/rules', {
      type: 'IP-CIDR',
      payload: '127.0.0.1/32',
      target: 'REJECT',
      before_id: (await gateway.call('GET', '/rules')).body.items[0].id,
    });
    const socket = connect(gateway.proxyPort, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.[01] 403 /);
    socket.destroy();
    const rejected = await waitFor(async () =>
      (await logs()).items.find((item: { status: string }) => item.status === 'rejected'),
    );
    expect(rejected).toMatchObject({ rule_id: rule.body.id, chains: ['REJECT'], node_id: null });
    expect((await gateway.call('DELETE', `/rules/${rule.body.id}`)).status).toBe(200);
    await shut(await tunnel());
  });

  it('closes a connection on demand', async () => {
    const socket = await tunnel();
    const { body } = await gateway.call('GET', '/connections');
    const closed = closeOf(socket);
    expect(await gateway.call('DELETE', `/connections/${body.connections[0].id}`)).toMatchObject({
      status: 200,
      body: { closed: 1 },
    });
    await closed;
  });

  it('records a failed connection with its stage and kind', async () => {
    const gone = await startTcpEcho();
    await gone.close();
    const socket = connect(gateway.proxyPort, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`CONNECT 127.0.0.1:${gone.port} HTTP/1.1\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    const failed = await waitFor(async () =>
      (await logs()).items.find((item: { status: string }) => item.status === 'failed'),
    );
    expect(failed).toMatchObject({
      target_port: gone.port,
      error_stage: 'dial',
      error_kind: 'connection_refused',
      upload: 0,
    });
  });

  it('loses no byte and no short flow: all sums agree', async () => {
    const sizes = Array.from({ length: 120 }, (_, index) => (index * 7_919) % 40_000);
    const queue = [...sizes];
    const worker = async (): Promise<void> => {
      for (let size = queue.pop(); size !== undefined; size = queue.pop()) {
        const socket = await tunnel();
        if (size > 0) await exchange(socket, size);
        await shut(socket);
      }
    };
    const before = (await settled()).logs;
    await Promise.all(Array.from({ length: 12 }, worker));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const { requests, upload, download } = before;
    const expected = { requests: requests + 120, upload: upload + bytes, download: download + bytes };
    const after = await waitFor(async () => {
      const now = await settled();
      return now.logs.requests === expected.requests ? now : null;
    });
    expect(after).toEqual({ logs: expected, domains: expected, nodes: expected, totals: expected });
  });

  it('records open connections when the service stops', async () => {
    const before = (await settled()).logs;
    const socket = await tunnel();
    await exchange(socket, 12_345);
    const { url } = gateway.app.app.get(DataSource).options as { url: string };
    const later = createDataSource({
      url,
      schema: 'proxy_gateway',
      entities: [],
      migrations: [],
      applicationName: 'test',
    });
    await later.initialize();
    try {
      await gateway.app.close();
      const [log] = await later.query(
        'SELECT upload, download, close_reason FROM traffic_logs ORDER BY ended_at DESC, id DESC LIMIT 1',
      );
      expect(log).toEqual({ upload: 12_345, download: 12_345, close_reason: 'shutdown' });
      const after = await sums(later);
      expect(after.logs.upload).toBe(before.upload + 12_345);
      expect(after.domains).toEqual(after.logs);
      expect(after.nodes).toEqual(after.logs);
      expect(after.totals).toEqual(after.logs);
    } finally {
      socket.destroy();
      await later.destroy();
    }
  });

  /** Deltas come once a second and records at once, so they agree a moment later. */
  function settled() {
    return waitFor(async () => {
      const now = await sums();
      const texts = Object.values(now).map((sum) => JSON.stringify(sum));
      return new Set(texts).size === 1 ? now : null;
    });
  }

  async function sums(dataSource = gateway.app.app.get(DataSource)) {
    const read = async (table: string, requests: string) => {
      const [row]: { requests: number; upload: number; download: number }[] = await dataSource.query(
        `SELECT coalesce(${requests}, 0)::bigint AS requests, coalesce(sum(upload), 0)::bigint AS upload,
           coalesce(sum(download), 0)::bigint AS download FROM ${table}`,
      );
      return row!;
    };
    return {
      logs: await read('traffic_logs', 'count(*)'),
      domains: await read('traffic_domain_hourly', 'sum(requests)'),
      nodes: await read('traffic_node_hourly', 'sum(requests)'),
      totals: await read('traffic_totals', 'sum(requests)'),
    };
  }
});
