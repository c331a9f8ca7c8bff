import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import request from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bootNotes } from '../service/boot-notes.fixture.js';
import { CONSOLE_POLICY } from './serve-console.js';

const PAGE = '<title>Help</title>'.repeat(50);
let root: string;
let app: NestExpressApplication;
let lines: string[];

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'help spec '));
  mkdirSync(join(root, 'help/zh-CN'), { recursive: true });
  writeFileSync(join(root, 'secret.txt'), 'secret');
  writeFileSync(join(root, 'help/index.html'), PAGE);
  writeFileSync(join(root, 'help/operations.html'), '<title>Operations</title>');
  writeFileSync(join(root, 'help/zh-CN/index.html'), '<title>文档</title>');
  writeFileSync(join(root, 'help/search.en.json'), '[]');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
afterEach(() => app.close());

async function boot(folder = join(root, 'site')) {
  ({ app, lines } = await bootNotes({ globalPrefix: 'api/v1', console: { folder } }));
  return request(app.getHttpServer());
}

describe('the documentation', () => {
  it('is at /help/, compressed, under the policy of the consoles', async () => {
    const http = await boot();
    const answer = await http.get('/help/');
    expect([answer.status, answer.text]).toEqual([200, PAGE]);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-encoding']).toBe('gzip');
    expect(answer.headers['content-security-policy']).toBe(CONSOLE_POLICY);
    expect(answer.headers['vary']).toBe('Accept-Language, Cookie, Accept-Encoding');
    const again = await http.get('/help/').set('If-None-Match', answer.headers['etag']!);
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await http.get('/help/operations.html')).text).toBe('<title>Operations</title>');
    expect((await http.get('/help/search.en.json')).headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('adds the slash that the relative addresses of its pages need', async () => {
    const answer = await (await boot()).get('/help');
    expect([answer.status, answer.headers['location']]).toEqual([308, 'help/']);
    const chinese = await request(app.getHttpServer()).get('/help/zh-CN');
    expect([chinese.status, chinese.headers['location']]).toEqual([308, 'zh-CN/']);
  });

  it('starts in Chinese for Chinese readers, and stays in English for those who chose it', async () => {
    const http = await boot();
    const start = await http.get('/help/').set('Accept-Language', 'zh-TW,en;q=0.5');
    expect([start.status, start.headers['location']]).toEqual([302, 'zh-CN/']);
    expect((await http.get('/help/zh-CN/')).text).toBe('<title>文档</title>');
    const chosen = http.get('/help/').set('Accept-Language', 'zh-CN').set('Cookie', 'a=b; gatehouse_language=en');
    expect((await chosen).status).toBe(200);
    const cookie = await http.get('/help/').set('Cookie', 'gatehouse_language=zh-CN');
    expect(cookie.headers['location']).toBe('zh-CN/');
  });

  it.each([
    '/help/../secret.txt',
    '/help/..%2fsecret.txt',
    '/help/zh-CN/nothing/',
    '/help/nothing.html',
    '/help//',
    '/help/%00',
  ])('serves no other file: %s', async (path) => {
    const answer = await (await boot()).get(path);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is reported once if it was not built, and the rest of the service works', async () => {
    const http = await boot(join(root, 'nowhere/site'));
    expect((await http.get('/help/')).status).toBe(404);
    expect((await http.get('/api/v1/notes/3')).status).toBe(200);
    expect(lines.filter((line) => line.includes('the documentation was not built'))).toHaveLength(1);
  });
});
