import { once } from 'node:events';
import { connect } from 'node:net';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCaller, type ShareCaller } from './share-callers.js';
import { startOpenSite } from './support/open-site.js';

type Site = Awaited<ReturnType<typeof startOpenSite>>;

let site: Site;
let caller: ShareCaller;

beforeAll(async () => {
  site = await startOpenSite();
  caller = await createCaller(site);
});
afterAll(() => site.close());

/** What clients of the contract read of any failure. */
function expectEnvelope({ headers, body }: request.Response, code: string): void {
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(body).toMatchObject({ success: false, code, data: null });
  const { message, description } = body as { message: unknown; description: unknown };
  expect([typeof message, typeof description]).toEqual(['string', 'string']);
  expect(JSON.stringify(body)).not.toMatch(/\bat .+\.[jt]s:\d+|node_modules|SELECT /);
}

const PLACES = ['/api/open', '/api/public/openapi'];
const UNLOCK = '/api/open/resources/unlock';
const TOKEN = '/api/public/openapi/oauth/token';

describe.each(PLACES)('under %s every failure is an envelope', (place) => {
  it.each(['', '/', '/nowhere', '/nowhere/at/all', '/%E0%A4%A'])('404 or 400: %s', async (path) => {
    for (const method of ['get', 'post', 'delete'] as const) {
      const answer = await request(site.url)[method](`${place}${path}`);
      expect([400, 404]).toContain(answer.status);
      expectEnvelope(answer, String(answer.status));
    }
  });

  it('404 also for clients that prefer HTML', async () => {
    const answer = await request(site.url).get(`${place}/nowhere`).set('Accept', 'text/html').expect(404);
    expectEnvelope(answer, '404');
  });
});

it('errors are in Chinese for clients that prefer it, and in English for others', async () => {
  const ask = (language: Record<string, string>) =>
    request(site.url).get('/api/open/resources/song/1').set('X-API-Key', caller.key).set(language);
  const texts = async (language: Record<string, string>) => ((await ask(language)).body as { message: string }).message;
  const english = await texts({});
  expect(english).toMatch(/^[ -~]+$/);
  expect(await texts({ 'Accept-Language': '*' })).toBe(english);
  expect(await texts({ 'Accept-Language': 'zh-CN' })).toMatch(/\p{Script=Han}/u);
});

describe.each([UNLOCK, TOKEN])('%s', (path) => {
  const post = (): request.Test => request(site.url).post(path).set('X-API-Key', caller.key);

  it('405 with Allow', async () => {
    const answer = await request(site.url).put(path).set('X-API-Key', caller.key).expect(405);
    expectEnvelope(answer, '405');
    expect(answer.headers['allow']).toContain('POST');
  });

  it('413, declared and chunked', async () => {
    expectEnvelope(
      await post()
        .send({ slug: 'x'.repeat(11 * 1024 * 1024) })
        .expect(413),
      '413',
    );
    const socket = connect(site.port, '127.0.0.1').setEncoding('utf8');
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${caller.key}\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    for (let sent = 0; sent < 12 && !socket.destroyed; sent++) socket.write(chunk);
    // The answer comes when the client has said all that it wanted to.
    socket.write('0\r\n\r\n');
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject({ success: false, code: '413' });
  });

  it('415', async () => {
    const answer = await post().set('Content-Type', 'text/plain').send('slug=1').expect(415);
    expectEnvelope(answer, '415');
    const encoded = await post().set({ 'Content-Type': 'application/json', 'Content-Encoding': 'unknown' }).send('{}');
    expect(encoded.status).toBe(415);
    expectEnvelope(encoded, '415');
  });

  it.each(['{"slug":', 'nonsense', '{"a":1}}', '[1,'])('400 for %s', async (text) => {
    const answer = await post().set('Content-Type', 'application/json').send(text).expect(400);
    expectEnvelope(answer, '400');
  });

  it.each(['null', '[]', '"text"', '7'])('a body that is %s is refused without a crash', async (text) => {
    const answer = await post().set('Content-Type', 'application/json').send(text);
    expect([400, 401]).toContain(answer.status);
    expectEnvelope(answer, (answer.body as { code: string }).code);
  });
});

describe('other errors', () => {
  it('401 and 403 name what is missing', async () => {
    expectEnvelope(await request(site.url).get('/api/open/ping').expect(401), 'MISSING_API_KEY');
    expectEnvelope(
      await request(site.url).get('/api/open/ping').set('X-API-Key', 'hk_nonsense').expect(401),
      'INVALID_API_KEY',
    );
    const narrow = await createCaller(site, { scopes: ['meta'] });
    expectEnvelope(await narrow.get('/resources/movie/1').expect(403), 'SCOPE_NOT_ALLOWED');
  });

  it('400 names the bad field', async () => {
    const answer = await caller.get('/usage?start_date=x').expect(400);
    expectEnvelope(answer, '400');
    expect((answer.body as { description: string }).description).toContain('start_date');
  });

  it('429', async () => {
    const strict = await startOpenSite({ API_RATE_LIMIT: '1' });
    await request(strict.url).get('/api/open/ping');
    for (const place of PLACES) {
      const answer = await request(strict.url).get(`${place}/x`).expect(429);
      expectEnvelope(answer, 'GLOBAL_RATE_LIMIT_EXCEEDED');
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    }
    await strict.close();
  });

  it('500: a crash reveals nothing', async () => {
    const sql = site.app.get(DataSource);
    await sql.query('ALTER TABLE titles RENAME TO titles_away');
    try {
      const answer = await caller.get('/resources/movie/603').expect(500);
      expectEnvelope(answer, '500');
    } finally {
      await sql.query('ALTER TABLE titles_away RENAME TO titles');
    }
  });

  it('RFC 9457 for clients that ask for it', async () => {
    const answer = await request(site.url).get('/api/open/ping').set('Accept', 'application/problem+json').expect(401);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ status: 401, code: 'missing_api_key' });
  });

  it.each([
    ['a request line that is none', 'NONSENSE\r\n\r\n', 400],
    [
      'headers that are too large',
      `GET /api/open/ping HTTP/1.1\r\nHost: x\r\nX-Filler: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
    ],
  ])('%s', async (_, sent, status) => {
    const socket = connect(site.port, '127.0.0.1').setEncoding('utf8');
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('error', () => undefined);
    socket.write(sent);
    await once(socket, 'close');
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text.toLowerCase()).toContain('content-type: application/json');
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject({
      success: false,
      code: String(status),
    });
  });
});
