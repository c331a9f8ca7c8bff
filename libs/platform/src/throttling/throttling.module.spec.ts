import type { NestExpressApplication } from '@nestjs/platform-express';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JsonLogger } from '../logging/json-logger.js';
import { createServiceApp } from '../service/create-service-app.js';
import { loadSettings } from '../settings/load-settings.js';
import { ServiceSettings } from '../settings/service-settings.js';
import { LimitedModule } from './limited.fixture.js';

describe('ThrottlingModule', () => {
  let app: NestExpressApplication;
  beforeEach(async () => {
    app = await createServiceApp({
      name: 'limited',
      module: LimitedModule,
      settings: loadSettings(ServiceSettings, {
        DATABASE_URL: 'postgres://localhost/x',
        TRUSTED_PROXIES: '127.0.0.0/8,::1',
      }),
      http: { errorFormat: 'proxy' },
      logger: new JsonLogger({ service: 'limited', level: 'silent' }),
    });
    await app.init();
  });
  afterEach(() => app.close());

  const statuses = async (path: string, count: number, address = '192.0.2.1'): Promise<number[]> => {
    const found = [];
    for (let hit = 0; hit < count; hit++) {
      found.push((await request(app.getHttpServer()).get(path).set('X-Forwarded-For', address)).status);
    }
    return found;
  };

  it('refuses a client above the limit in the wire format, and no other client', async () => {
    expect(await statuses('/usual', 4)).toEqual([200, 200, 200, 429]);
    const refused = await request(app.getHttpServer()).get('/usual').set('X-Forwarded-For', '192.0.2.1');
    expect(refused.body).toMatchObject({ code: 'RATE_LIMITED' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(await statuses('/usual', 1, '192.0.2.2')).toEqual([200]);
  });

  it('says when the window ends in Unix seconds, in answers and refusals', async () => {
    const call = () => request(app.getHttpServer()).get('/usual').set('X-Forwarded-For', '192.0.2.7');
    const inSeconds = (answer: request.Response): number =>
      Number(answer.headers['x-ratelimit-reset']) - Date.now() / 1_000;
    const passed = await call();
    expect(passed.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
    expect(Math.abs(inSeconds(passed) - 60)).toBeLessThanOrEqual(10);
    await statuses('/usual', 2, '192.0.2.7');
    const refused = await call();
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
    expect(Math.abs(inSeconds(refused) - Number(refused.headers['retry-after']))).toBeLessThanOrEqual(2);
  });

  it('counts an IPv6 network as one client', async () => {
    const from = (address: string): Promise<number[]> => statuses('/strict', 1, address);
    expect(await from('2001:db8:1:2::1')).toEqual([200]);
    expect(await from('2001:db8:1:2:ffff::7')).toEqual([429]);
    expect(await from('2001:db8:1:3::1')).toEqual([200]);
    expect(await from('::ffff:192.0.2.9')).toEqual([200]);
    expect(await from('192.0.2.9')).toEqual([429]);
  });

  it('uses the limits of a route, and none if it has none', async () => {
    expect(await statuses('/strict', 2)).toEqual([200, 429]);
    expect(await statuses('/free', 6)).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it('does not limit the operations routes', async () => {
    expect(await statuses('/healthz', 6)).toEqual([200, 200, 200, 200, 200, 200]);
  });
});
