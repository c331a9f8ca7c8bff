import type { NestExpressApplication } from '@nestjs/platform-express';
import request from 'supertest';
import { afterEach, describe, expect, it } from 'vitest';
import { bootNotes } from './boot-notes.fixture.js';

let app: NestExpressApplication;
afterEach(() => app.close());

async function boot(compress: boolean): Promise<ReturnType<typeof request>> {
  ({ app } = await bootNotes({ compress }));
  return request(app.getHttpServer());
}

describe('a long answer', () => {
  it('is compressed for clients that support it', async () => {
    const http = await boot(true);
    const plain = await http.get('/drawers/contents').set('Accept-Encoding', 'identity');
    expect([plain.headers['content-encoding'], plain.headers['vary']]).toEqual([undefined, 'Accept-Encoding']);
    const zipped = await http.get('/drawers/contents').set('Accept-Encoding', 'gzip, br');
    expect([zipped.headers['content-encoding'], zipped.headers['vary']]).toEqual(['gzip', 'Accept-Encoding']);
    expect(Number(zipped.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 5);
    expect(zipped.body).toEqual(plain.body);
  });

  it('is not compressed if it is short, or answers a change', async () => {
    const http = await boot(true);
    const short = await http.get('/notes/3').set('Accept-Encoding', 'gzip');
    expect([short.headers['content-encoding'], short.body]).toEqual([undefined, { id: 3 }]);
    const changed = await http.post('/drawers/contents').set('Accept-Encoding', 'gzip');
    expect([changed.status, changed.headers['content-encoding']]).toEqual([200, undefined]);
  });

  it('is not compressed by a service that did not enable it', async () => {
    const answer = await (await boot(false)).get('/drawers/contents').set('Accept-Encoding', 'gzip');
    expect([answer.headers['content-encoding'], answer.headers['vary']]).toEqual([undefined, undefined]);
  });
});
