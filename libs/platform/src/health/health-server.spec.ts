import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { JsonLogger } from '../logging/json-logger.js';
import { HealthRegistry } from './health-registry.js';
import { serveHealth } from './health-server.js';

describe('serveHealth', () => {
  it('reports whether the process is alive, and whether its checks pass', async () => {
    const health = new HealthRegistry(new JsonLogger({ service: 't', level: 'silent' }));
    const server = await serveHealth(0, health);
    const ask = async (path: string): Promise<[number, unknown]> => {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
      return [answer.status, await answer.json()];
    };
    expect(await ask('/readyz')).toEqual([200, { status: 'ok', failing: [], checks: {} }]);
    health.register('queue', () => Promise.reject(new Error('x')));
    expect(await ask('/readyz')).toMatchObject([503, { failing: ['queue'] }]);
    expect(await ask('/healthz')).toEqual([200, { status: 'ok' }]);
    expect((await ask('/metrics'))[0]).toBe(404);
    server.close();
    await once(server, 'close');
  });

  it('rejects if the port is taken', async () => {
    const health = new HealthRegistry(new JsonLogger({ service: 't', level: 'silent' }));
    const server = await serveHealth(0, health);
    await expect(serveHealth((server.address() as AddressInfo).port, health)).rejects.toThrow('EADDRINUSE');
    server.close();
  });
});
