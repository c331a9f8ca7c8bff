import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './gateway-app.js';

describe('the general request limit', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => void (gateway = await startGateway({ API_RATE_LIMIT: '3' })));
  afterAll(async () => gateway.close());

  it('answers 429 with Retry-After when it is exceeded, except for health checks', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 4; count++) statuses.push((await fetch(`${gateway.url}/api/v1/auth/me`)).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    const refused = await fetch(`${gateway.url}/api/v1/auth/me`);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });
});
