import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import request from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bootNotes } from '../service/boot-notes.fixture.js';
import { CONSOLE_POLICY } from './serve-console.js';

const SCRIPT = 'console.log(1);'.repeat(50);
let root: string;
let app: NestExpressApplication;
let lines: string[];

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'console spec '));
  mkdirSync(join(root, 'site/assets'), { recursive: true });
  writeFileSync(join(root, 'secret.txt'), 'secret');
  writeFileSync(join(root, 'site/secret.txt'), 'secret');
  writeFileSync(join(root, 'site/proxy.html'), '<title>a page</title>');
  writeFileSync(join(root, 'site/assets/main-abc.js'), SCRIPT);
  writeFileSync(join(root, 'a-program.mjs'), SCRIPT);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
afterEach(() => app.close());

async function boot(folder = join(root, 'site')) {
  ({ app, lines } = await bootNotes({
    globalPrefix: 'api/v1',
    openapi: { path: '/api/v1/openapi.json', title: 'Notes' },
    console: {
      folder,
      page: 'proxy.html',
      downloads: [join(root, 'a-program.mjs'), join(root, 'not-built.mjs')],
    },
  }));
  return request(app.getHttpServer());
}

describe('a console', () => {
  it('is the page at the root, with a strict policy and without caching', async () => {
    const http = await boot();
    const answer = await http.get('/');
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('<title>a page</title>');
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toBe(CONSOLE_POLICY);
    expect(CONSOLE_POLICY).not.toMatch(/unsafe|https?:|\*/);
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    const again = await http.get('/').set('If-None-Match', answer.headers['etag']!);
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('has files that browsers cache permanently, compressed if they support it', async () => {
    const http = await boot();
    const plain = await http.get('/assets/main-abc.js').set('Accept-Encoding', 'identity');
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers['content-length']).toBe(String(SCRIPT.length));
    const zipped = await http.get('/assets/main-abc.js').set('Accept-Encoding', 'gzip, br');
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(Number(zipped.headers['content-length'])).toBeLessThan(SCRIPT.length / 4);
    expect(zipped.text).toBe(SCRIPT);
    const head = await http.head('/assets/main-abc.js').set('Accept-Encoding', 'identity');
    expect([head.status, head.headers['content-length']]).toEqual([200, String(SCRIPT.length)]);
  });

  it.each([
    '/assets/../secret.txt',
    '/assets/..%2fsecret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2e%2e/secret.txt',
    '/assets/..%5csecret.txt',
    '/assets/main-abc.js%00.html',
    '/assets/',
    '/assets/constructor',
    '/secret.txt',
    '/proxy.html',
    '//secret.txt',
  ])('serves no other file: %s', async (path) => {
    const answer = await (await boot()).get(path);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('answers a name that cannot be decoded as a bad request', async () => {
    const answer = await (await boot()).get('/assets/%');
    expect(answer.status).toBe(400);
  });

  it('does not affect the API, the description and the health checks', async () => {
    const http = await boot();
    expect((await http.get('/api/v1/notes/3')).body).toEqual({ id: 3 });
    expect((await http.get('/healthz')).body).toEqual({ status: 'ok' });
    expect((await http.get('/docs')).text).toContain('swagger-ui');
    expect((await http.get('/api/v1/nothing')).body).toMatchObject({ code: 'NOT_FOUND' });
    const posted = await http.post('/');
    expect([posted.status, posted.headers['allow']]).toEqual([405, 'GET, HEAD']);
  });

  it('serves programs by their names, and reports missing ones', async () => {
    const http = await boot();
    const answer = await http.get('/a-program.mjs');
    expect([answer.status, answer.text]).toEqual([200, SCRIPT]);
    expect(answer.headers['content-disposition']).toBe('attachment; filename="a-program.mjs"');
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect((await http.get('/not-built.mjs')).status).toBe(404);
    expect(lines.filter((line) => line.includes('not-built.mjs was not built'))).toHaveLength(1);
  });

  it('is reported once if it was not built, and the rest of the service works', async () => {
    const http = await boot(join(root, 'nowhere'));
    expect((await http.get('/')).status).toBe(404);
    expect((await http.get('/api/v1/notes/3')).status).toBe(200);
    expect(lines.filter((line) => line.includes('the console was not built'))).toHaveLength(1);
  });
});
