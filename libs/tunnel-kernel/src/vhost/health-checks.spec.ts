import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createServer as createTlsServer } from 'node:tls';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import type { HealthCheckConfig, HostConfig, TargetChange } from '../index.js';
import { createServerIdentity } from '../wire/server-identity.js';

let rig: HostRig;
let changes: TargetChange[];
const servers: Server[] = [];
afterEach(async () => {
  await rig.close();
  for (const server of servers.splice(0)) server.close();
});

async function start(): Promise<void> {
  changes = [];
  rig = await HostRig.start({}, { events: { targetChanged: (change) => changes.push(change) } });
}

function check(more: Partial<HealthCheckConfig> = {}): Pick<HostConfig, 'healthCheck'> {
  const healthCheck: HealthCheckConfig = {
    type: 'http',
    path: '/health',
    expectedStatus: { from: 200, to: 399 },
    intervalMs: 20,
    timeoutMs: 1_000,
    healthyThreshold: 2,
    unhealthyThreshold: 3,
    ...more,
  };
  return { healthCheck };
}

/** A target whose `/health` answers with the status that it has at the moment. */
interface Target {
  port: number;
  status: number;
  /** Fields of the checks that came. */
  checks: Record<string, unknown>[];
  visits: number;
}

async function target(name: string): Promise<Target> {
  const made: Target = { port: 0, status: 200, checks: [], visits: 0 };
  made.port = await rig.origin(({ url, headers }, response) => {
    if (url === '/health') {
      made.checks.push(headers);
      response.writeHead(made.status).end('x'.repeat(100_000));
    } else {
      made.visits += 1;
      response.end(name);
    }
  });
  return made;
}

const states = (): string[] => rig.server.checkedTargets([12]).map(({ state }) => state);
const seen = (): string[] => changes.map(({ target: { port }, state, reason }) => `${port} ${state} ${reason}`);

describe('active health checks of a host', () => {
  it('keep visitors away from a target that fails, and send them back when it is healthy again', async () => {
    await start();
    const [a, b] = [await target('a'), await target('b')];
    await rig.serve(rig.hostConfig([a.port, b.port], check()));
    await waitFor(() => states().join() === 'up,up');
    b.status = 500;
    await waitFor(() => states().join() === 'up,down');
    const { visits } = b;
    for (let round = 0; round < 6; round += 1) expect((await rig.ask()).body).toBe('a');
    expect(b.visits).toBe(visits);
    b.status = 204;
    await waitFor(() => states().join() === 'up,up');
    const bodies = [(await rig.ask()).body, (await rig.ask()).body];
    expect(bodies.toSorted()).toEqual(['a', 'b']);
    expect(seen().filter((line) => line.startsWith(`${b.port}`))).toEqual([
      `${b.port} up null`,
      `${b.port} down status`,
      `${b.port} up null`,
    ]);
    expect(changes.find(({ state }) => state === 'down')).toMatchObject({
      hostId: 12,
      clientId: rig.owner.record.id,
      target: { scheme: 'http', host: '127.0.0.1' },
      status: 500,
    });
  });

  it('wait for as many failures and successes in succession as the thresholds say', async () => {
    await start();
    const a = await target('a');
    const before = (): number => a.checks.length;
    await rig.serve(rig.hostConfig([a.port], check({ unhealthyThreshold: 4, healthyThreshold: 3 })));
    await waitFor(() => states().join() === 'up');
    a.status = 503;
    const failed = before();
    await waitFor(() => states().join() === 'down');
    // One may have been on its way when the status changed.
    expect(before() - failed).toBeGreaterThanOrEqual(4);
    const healed = before();
    a.status = 200;
    await waitFor(() => states().join() === 'up');
    expect(before() - healed).toBeGreaterThanOrEqual(3);
  });

  it('ask as visits do: through the agent, with the name and the fields of the host', async () => {
    await start();
    const a = await target('a');
    const rewritten = { rewriteHost: 'inner.test', requestHeaders: { 'X-Key': '1' } };
    await rig.serve(rig.hostConfig([a.port], { ...rewritten, ...check() }));
    await waitFor(() => a.checks.length > 0);
    expect(a.checks[0]).toMatchObject({ host: 'inner.test', 'x-key': '1', 'user-agent': 'Gatehouse-Health-Check' });
  });

  it('say so to visitors when every target is down, and check while nobody comes', async () => {
    await start();
    const a = await target('a');
    a.status = 404;
    await rig.serve(rig.hostConfig([a.port], check()));
    await waitFor(() => states().join() === 'down');
    expect(await rig.ask()).toMatchObject({
      status: 503,
      headers: { 'x-gw-error': 'targets_down', 'retry-after': '5' },
    });
    expect(a.visits).toBe(0);
    a.status = 200;
    await waitFor(async () => (await rig.ask()).body === 'a');
  });

  it('find out that a target refuses connections or does not answer in time', async () => {
    await start();
    const silent = createServer((socket) => socket.on('error', () => undefined).resume());
    servers.push(silent);
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await rig.serve(rig.hostConfig([1, port], check({ timeoutMs: 30, unhealthyThreshold: 2 })));
    await waitFor(() => states().join() === 'down,down');
    expect(seen().toSorted()).toEqual(['1 down refused', `${port} down timeout`].toSorted());
  });

  it('are content with a connection where the type is tcp', async () => {
    await start();
    const a = await target('a');
    a.status = 500;
    await rig.serve(rig.hostConfig([a.port, 1], check({ type: 'tcp' })));
    await waitFor(() => states().join() === 'up,down');
    expect(a.checks).toEqual([]);
  });

  it('choose among the targets to which TLS is passed on', async () => {
    await start();
    const { certificate: cert, key } = createServerIdentity('a.test');
    const site = createTlsServer({ cert, key }, (socket) => socket.on('error', () => undefined).end('passed'));
    servers.push(site);
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    const { port } = site.address() as AddressInfo;
    const tls = (at: number) => ({ host: '127.0.0.1', port: at, weight: 1, scheme: 'tls', insecure: false }) as const;
    // The first one is tried for the most part, and is never there.
    const targets = [{ ...tls(1), weight: 1000 }, tls(port)];
    await rig.serve(rig.hostConfig(targets, { scheme: 'https', ...check({ type: 'tcp' }) }));
    await waitFor(() => states().join() === 'down,up');
    const visitor = connectTls({ port: rig.https, host: '127.0.0.1', servername: 'a.test', rejectUnauthorized: false });
    expect(Buffer.concat((await visitor.toArray()) as Buffer[]).toString()).toBe('passed');
    await rig.serve(rig.hostConfig([tls(1)], { scheme: 'https', ...check({ type: 'tcp' }) }));
    await waitFor(() => states().join() === 'down');
    const refused = connectTls({ port: rig.https, host: '127.0.0.1', servername: 'a.test', rejectUnauthorized: false });
    const [error] = (await once(refused, 'error').catch((caught: unknown) => [caught])) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
  });

  it('know nothing while no agent is connected, and begin again when one is', async () => {
    await start();
    const a = await target('a');
    a.status = 500;
    await rig.serve(rig.hostConfig([a.port], check()));
    await waitFor(() => states().join() === 'down');
    await rig.served?.stop();
    await waitFor(() => states().join() === 'unknown');
    a.status = 200;
    rig.agent(rig.owner.key);
    await waitFor(() => states().join() === 'up');
    expect(seen()).toEqual([`${a.port} down status`, `${a.port} up null`]);
  });

  it('keep what is known when a target is added, and end with the option', async () => {
    await start();
    const [a, b] = [await target('a'), await target('b')];
    b.status = 500;
    await rig.serve(rig.hostConfig([a.port, b.port], check()));
    await waitFor(() => states().join() === 'up,down');
    await rig.serve(rig.hostConfig([b.port, 1, a.port], check({ intervalMs: 3_600_000 })));
    expect(states()).toEqual(['down', 'unknown', 'up']);
    await rig.serve(rig.hostConfig([a.port, b.port]));
    expect(states()).toEqual([]);
    const bodies = [(await rig.ask()).body, (await rig.ask()).body];
    expect(bodies.toSorted()).toEqual(['a', 'b']);
  });
});
