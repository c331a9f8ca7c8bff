import { describe, expect, it } from 'vitest';
import { JsonLogger } from '../logging/json-logger.js';
import { HealthRegistry } from './health-registry.js';

function registry(): { health: HealthRegistry; lines: string[] } {
  const lines: string[] = [];
  const logger = new JsonLogger({ service: 't', level: 'debug', write: (line) => void lines.push(line) });
  return { health: new HealthRegistry(logger), lines };
}

describe('HealthRegistry', () => {
  it('is ready without checks', async () => {
    expect(await registry().health.report()).toEqual({ status: 'ok', failing: [], checks: {} });
  });

  it('names checks that fail, throw or do not answer', async () => {
    const { health } = registry();
    health.register('good', () => Promise.resolve());
    health.register('rejects', () => Promise.reject(new Error('x')));
    health.register('throws', () => {
      throw new Error('x');
    });
    health.register('hangs', () => new Promise(() => undefined), { timeoutMs: 20 });
    const report = await health.report();
    expect(report.status).toBe('unavailable');
    expect([...report.failing].sort()).toEqual(['hangs', 'rejects', 'throws']);
    expect(report.checks['good']).toMatchObject({ ok: true });
  });

  it('is degraded, and can serve, while only a check that degrades fails', async () => {
    const { health } = registry();
    let late = true;
    health.register('schedule:x', () => (late ? Promise.reject(new Error('late')) : Promise.resolve()), {
      degrades: true,
    });
    expect(await health.report()).toMatchObject({ status: 'degraded', failing: [], degraded: ['schedule:x'] });
    const remove = health.register('database', () => Promise.reject(new Error('away')));
    expect(await health.report()).toMatchObject({
      status: 'unavailable',
      failing: ['database'],
      degraded: ['schedule:x'],
    });
    late = false;
    remove();
    expect(await health.report()).toMatchObject({ status: 'ok', failing: [] });
  });

  it('shares one run between callers at the same time', async () => {
    const { health } = registry();
    let runs = 0;
    health.register('counted', () => {
      runs += 1;
      return Promise.resolve();
    });
    await Promise.all([health.report(), health.report(), health.report()]);
    expect(runs).toBe(1);
  });

  it('logs a change of state once, with the reason', async () => {
    const { health, lines } = registry();
    health.register('database', () => Promise.reject(new Error('gone away')));
    await health.report();
    health.register('other', () => Promise.resolve());
    await health.report();
    expect(lines.filter((line) => line.includes('gone away'))).toHaveLength(1);
  });

  it('forgets a removed check and is not ready while draining', async () => {
    const { health } = registry();
    const remove = health.register('bad', () => Promise.reject(new Error('x')));
    remove();
    expect((await health.report()).status).toBe('ok');
    health.startDraining();
    expect(await health.report()).toMatchObject({ status: 'unavailable', failing: ['shutdown'] });
  });
});
