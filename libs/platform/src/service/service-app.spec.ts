import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorFormat } from '../errors/error-format.js';
import { HealthRegistry } from '../health/health-registry.js';
import { JsonLogger } from '../logging/json-logger.js';
import { loadSettings } from '../settings/load-settings.js';
import { ServiceSettings } from '../settings/service-settings.js';
import { createServiceApp } from './create-service-app.js';
import { NotesModule } from './notes.fixture.js';

const ICON = join(import.meta.dirname, '../../../../apps/console/src/shared/icon.svg');

let app: NestExpressApplication;
let lines: string[];

async function boot(errorFormat: ErrorFormat, globalPrefix?: string): Promise<NestExpressApplication> {
  lines = [];
  const settings = loadSettings(ServiceSettings, { DATABASE_URL: 'postgres://localhost/none', TRUSTED_PROXIES: '' });
  app = await createServiceApp({
    name: 'notes',
    module: NotesModule,
    settings,
    logger: new JsonLogger({ service: 'notes', level: 'debug', write: (line) => void lines.push(line) }),
    http: {
      errorFormat,
      bodyLimit: 2_000,
      openapi: { path: '/api/v1/openapi.json', title: 'Notes' },
      ...(globalPrefix === undefined ? {} : { globalPrefix }),
    },
  });
  await app.init();
  return app;
}

afterEach(async () => {
  await app.close();
});

describe('a service application in the proxy format', () => {
  beforeEach(() => boot('proxy', 'api/v1'));

  it('answers a controller and echoes a valid request id', async () => {
    const answer = await request(app.getHttpServer()).get('/api/v1/notes/3').set('X-Request-Id', 'abc-12345');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ id: 3 });
    expect(answer.headers['x-request-id']).toBe('abc-12345');
    expect(answer.headers['x-powered-by']).toBeUndefined();
    expect(answer.headers['etag']).toBeUndefined();
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  it('replaces a request id that could forge log lines', async () => {
    const answer = await request(app.getHttpServer()).get('/api/v1/notes/3').set('X-Request-Id', 'a b"{}{}{}{}');
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['an unknown route under the prefix', 'get', '/api/v1/nothing', 404, 'NOT_FOUND'],
    ['an unknown route outside the prefix', 'get', '/nothing', 404, 'NOT_FOUND'],
    ['a coded error', 'get', '/api/v1/notes/404', 404, 'NOT_FOUND'],
    ['a bad path parameter', 'get', '/api/v1/notes/x', 400, 'INVALID_ARGUMENT'],
    ['a path that cannot be decoded', 'get', '/api/v1/notes/%E0%A4%A', 400, 'INVALID_ARGUMENT'],
    ['a wrong method', 'delete', '/api/v1/notes/3', 405, 'METHOD_NOT_ALLOWED'],
  ] as const)('answers %s with its body', async (_what, method, path, status, code) => {
    const answer = await request(app.getHttpServer())[method](path);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Object.keys(answer.body as object).sort()).toEqual(['code', 'error', 'request_id']);
    expect(answer.body).toMatchObject({ code, request_id: answer.headers['x-request-id'] });
  });

  it('shows a page to people who open an unknown address, in their language', async () => {
    const ask = (path: string, accept: string) =>
      request(app.getHttpServer()).get(path).set({ accept, 'accept-language': 'zh-CN,zh;q=0.9' });
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await ask('/nothing/<script>', browser);
    expect(page.status).toBe(404);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const style = /<style>([^<]+)<\/style>/.exec(page.text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'/,
    );
    expect(page.headers['content-security-policy']).toContain(hash);
    expect(page.text).toContain('<html lang="zh-CN" data-theme="system">');
    expect(page.text).toContain('<h1>页面不存在</h1>');
    expect(page.text).not.toContain('script');
    const icon = readFileSync(ICON, 'utf8');
    for (const [, drawn = ''] of icon.matchAll(/ d="([^"]+)"/g)) expect(page.text).toContain(drawn);
    const chosen = await ask('/nothing', browser).set('cookie', 'gatehouse_theme=dark; gatehouse_language=en');
    expect(chosen.text).toContain('<html lang="en" data-theme="dark">');
    expect((await ask('/api/v1/nothing', browser)).body).toMatchObject({ code: 'NOT_FOUND' });
    expect((await ask('/nothing', '*/*')).body).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('names the allowed methods', async () => {
    const one = await request(app.getHttpServer()).delete('/api/v1/notes/3');
    expect(one.headers['allow']).toBe('GET, HEAD');
    const all = await request(app.getHttpServer()).get('/api/v1/notes');
    expect(all.headers['allow']).toBe('POST');
  });

  it.each(['put', 'options', 'delete'] as const)('does not treat a fixed path as an id: %s', async (method) => {
    const answer = await request(app.getHttpServer())[method]('/api/v1/drawers/labels');
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD']);
  });

  it('lists every bad field', async () => {
    const answer = await request(app.getHttpServer())
      .post('/api/v1/notes')
      .send({ name: 'x'.repeat(11), size: 0, admin: 1 });
    expect(answer.status).toBe(400);
    expect((answer.body as { details: { field: string }[] }).details.map(({ field }) => field).sort()).toEqual([
      'admin',
      'name',
      'size',
    ]);
  });

  it('describes errors in the language that the client prefers', async () => {
    const ask = (language: Record<string, string>) =>
      request(app.getHttpServer()).post('/api/v1/notes').set(language).send({ name: 'much too long', more: 1 });
    const [silent, english, chinese] = await Promise.all([
      ask({}),
      ask({ 'Accept-Language': 'en-US,zh;q=0.5' }),
      ask({ 'Accept-Language': 'zh-CN,zh;q=0.9,en;q=0.8' }),
    ]);
    for (const { body, headers } of [silent, english]) {
      expect(body).toMatchObject({ error: 'Some fields are not acceptable', code: 'INVALID_ARGUMENT' });
      expect(headers['content-language']).toBeUndefined();
    }
    expect(chinese.headers['content-language']).toBe('zh-CN');
    expect(chinese.body).toMatchObject({ error: '部分字段无效', code: 'INVALID_ARGUMENT' });
    expect((chinese.body as { details: unknown[] }).details).toEqual(
      expect.arrayContaining([
        { field: 'name', message: '不能超过 10 个字符' },
        { field: 'more', message: '是未知字段' },
      ]),
    );
    // The log has one language.
    expect(lines.join('')).not.toMatch(/\p{Script=Han}/u);
  });

  it('treats a missing body as an empty one', async () => {
    const answer = await request(app.getHttpServer()).post('/api/v1/notes');
    expect(answer.status).toBe(400);
    expect((answer.body as { details: { field: string }[] }).details[0]?.field).toBe('name');
  });

  it.each([
    ['malformed JSON', 'application/json', '{"name":', 400, 'INVALID_ARGUMENT'],
    ['another content type', 'text/plain', 'name', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['an unknown charset', 'application/json; charset=klingon', '{}', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'a body over the limit',
      'application/json',
      JSON.stringify({ name: 'x'.repeat(3_000) }),
      413,
      'PAYLOAD_TOO_LARGE',
    ],
  ] as const)('refuses %s', async (_what, type, body, status, code) => {
    const answer = await request(app.getHttpServer()).post('/api/v1/notes').set('Content-Type', type).send(body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code });
    expect(JSON.stringify(answer.body)).not.toContain('Unexpected');
  });

  it('refuses a chunked body over the limit', async () => {
    await app.listen(0, '127.0.0.1');
    const chunk = Buffer.alloc(1_500, 32);
    const answer = await fetch(`${await app.getUrl()}/api/v1/notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new ReadableStream({
        start(controller) {
          controller.enqueue(chunk);
          controller.enqueue(chunk);
          controller.close();
        },
      }),
      duplex: 'half',
    } as RequestInit);
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('hides unexpected errors and logs them with the request id', async () => {
    const answer = await request(app.getHttpServer()).get('/api/v1/notes/500');
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('hunter2');
    expect(answer.body).toMatchObject({ code: 'INTERNAL', error: 'The service failed' });
    const logged = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ level }) => level === 'error');
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatchObject({
      request_id: answer.headers['x-request-id'],
      status: 500,
      path: '/api/v1/notes/500',
    });
    expect(JSON.stringify(logged[0])).toContain('driver message');
  });

  it('sends Retry-After in whole seconds', async () => {
    const answer = await request(app.getHttpServer()).get('/api/v1/notes/429');
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('8');
  });

  it('answers HEAD errors without a body', async () => {
    const answer = await request(app.getHttpServer()).head('/nothing');
    expect(answer.status).toBe(404);
    expect(answer.text).toBeFalsy();
  });
});

describe('the other wire formats', () => {
  it('wraps errors in the envelope', async () => {
    await boot('envelope');
    const answer = await request(app.getHttpServer()).get('/notes/404');
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ success: false, code: '404', message: 'No note has this id', data: null });
    const limited = await request(app.getHttpServer()).get('/notes/429');
    expect(limited.body).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retry_after_seconds: 8 });
  });

  it('gives the envelope client RFC 9457 when it asks', async () => {
    await boot('envelope');
    const answer = await request(app.getHttpServer()).get('/notes/404').set('Accept', 'application/problem+json');
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.body).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('translates every text of a problem and of the envelope', async () => {
    const ask = async (format: ErrorFormat) => {
      await boot(format);
      const answer = await request(app.getHttpServer()).post('/notes').set('Accept-Language', 'zh').send({});
      return answer.body as Record<string, unknown>;
    };
    expect(await ask('problem')).toMatchObject({ title: '部分字段无效', code: 'validation_failed' });
    await app.close();
    expect(await ask('envelope')).toMatchObject({
      code: '400',
      description: expect.stringContaining('name: 缺少此字段'),
    });
  });

  it('answers problems, with 422 for bad fields', async () => {
    await boot('problem');
    const answer = await request(app.getHttpServer()).post('/notes').send({ name: 1 });
    expect(answer.status).toBe(422);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.body).toMatchObject({
      type: '/docs/errors#validation_failed',
      status: 422,
      code: 'validation_failed',
      errors: [{ field: 'name' }, { field: 'name' }],
    });
  });
});

describe('operations', () => {
  beforeEach(() => boot('proxy', 'api/v1'));

  it('is alive and ready, and names the check that fails', async () => {
    expect((await request(app.getHttpServer()).get('/healthz')).body).toEqual({ status: 'ok' });
    expect((await request(app.getHttpServer()).get('/readyz')).status).toBe(200);
    app.get(HealthRegistry).register('database', () => Promise.reject(new Error('secret detail')));
    const answer = await request(app.getHttpServer()).get('/readyz');
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ status: 'unavailable', failing: ['database'] });
    expect(answer.text).not.toContain('secret detail');
  });

  it('counts requests by route template', async () => {
    await request(app.getHttpServer()).get('/api/v1/notes/1');
    await request(app.getHttpServer()).get('/api/v1/notes/2');
    await request(app.getHttpServer()).get('/guess/1');
    const { text } = await request(app.getHttpServer()).get('/metrics');
    expect(text).toContain(
      'http_request_duration_seconds_count{method="GET",route="/api/v1/notes/:id",status="200"} 2',
    );
    expect(text).toContain('route="unmatched",status="404"} 1');
    expect(text).toContain('process_cpu_user_seconds_total');
  });

  it('describes itself in OpenAPI 3.1 with the rules of the request classes', async () => {
    const { body } = await request(app.getHttpServer()).get('/api/v1/openapi.json');
    expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Notes' } });
    const document = body as {
      paths: Record<string, Record<string, object>>;
      components: { schemas: Record<string, object> };
    };
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/api/v1/notes', '/api/v1/notes/{id}']));
    expect(document.components.schemas['CreateNote']).toMatchObject({
      required: ['name'],
      properties: { name: { type: 'string', maxLength: 10 }, size: { type: ['integer', 'null'], minimum: 1 } },
    });
    expect(document.paths['/api/v1/notes']?.['post']).toMatchObject({
      responses: { default: { $ref: '#/components/responses/Error' } },
    });
  });

  it('serves the docs page and all its files itself', async () => {
    const page = await request(app.getHttpServer()).get('/docs');
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/https?:\/\//);
    const files = [...page.text.matchAll(/(?:src|<link[^>]* href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const file of files) expect((await request(app.getHttpServer()).get(file)).status).toBe(200);
    expect((await request(app.getHttpServer()).get('/docs/errors')).text).toContain('id="not_found"');
  });
});
