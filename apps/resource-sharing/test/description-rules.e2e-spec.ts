import { Ajv2020 } from 'ajv/dist/2020.js';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSite, type SiteApp } from './site-app.js';
import { PASSWORD } from './support/third-party.js';

let site: SiteApp;
let ajv: Ajv2020;
let description: object;
let cookie: string;
let key: string;

beforeAll(async () => {
  site = await startSite({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
  ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  description = (await (await fetch(`${site.url}/api/open/openapi.json`)).json()) as object;
  ajv.addSchema(description, 'description');
  const login = await request(site.url).post('/api/site/login').send({ username: 'admin', password: PASSWORD });
  cookie = login.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const made = await send('POST /api/site/keys', { name: 'all', scopes: SCOPES, current_password: PASSWORD });
  key = (made.body as { data: { secret: string } }).data.secret;
});
afterAll(() => site.close());

const SCOPES = ['meta', 'query', 'unlock', 'write'];

function send(line: string, body: object): request.Test {
  const [method = '', path = ''] = line.split(' ');
  const credential = path.startsWith('/api/open') ? { 'X-API-Key': key } : { Cookie: cookie };
  return request(site.url)[method.toLowerCase() as 'post'](path).set(credential).send(body);
}

const link = (name: string): string => `https://115.com/s/${name}?password=a1b2`;
const APPLICATION = { redirect_uris: ['https://player.example.org/done'], scopes: ['meta'] };
const SHARES = 'POST /api/open/shares';

/** A request and whether it follows the description; the service has to agree. */
const CASES: [schema: string, line: string, body: object, valid: boolean][] = [
  ['CreateShareBody', SHARES, { url: link('sw1aaaa'), tmdb_id: '1', media_type: 'movie' }, true],
  ['CreateShareBody', SHARES, { url: `看 ${link('sw2aaaa')}`, tmdb_id: '1', media_type: 'tv', movie_id: null }, true],
  ['CreateShareBody', SHARES, { url: 'http://nas.example.org:8080/a', tmdb_id: '1', media_type: 'movie' }, true],
  ['CreateShareBody', SHARES, { url: link('sw3aaaa') }, false],
  ['CreateShareBody', SHARES, { url: link('sw3aaaa'), movie_id: null }, false],
  ['CreateShareBody', SHARES, { url: link('sw3aaaa'), tmdb_id: '1' }, false],
  ['CreateShareBody', SHARES, { url: link('sw3aaaa'), tmdb_id: '1', media_type: null }, false],
  ['CreateShareBody', SHARES, { url: link('sw3aaaa'), tmdb_id: '0', media_type: 'tv' }, false],
  ['CreateShareBody', SHARES, { url: 'no link', tmdb_id: '1', media_type: 'movie' }, false],
  ['CreateShareBody', SHARES, { url: 'http://nas.example.org:99999/a', tmdb_id: '1', media_type: 'movie' }, false],
  ['CreateShareBody', SHARES, { url: link('sw3aaaa'), tmdb_id: '1', media_type: 'tv', access_code: 'a-b' }, false],
  ['CreateShareBody', SHARES, { tmdb_id: '1', media_type: 'movie' }, false],
  ['CheckResourceBody', 'POST /api/open/check/resource', { url: 'magnet:?xt=urn:btih:no' }, false],
  ['CheckResourceBody', 'POST /api/open/check/resource', { url: `magnet:?xt=urn:btih:${'a1'.repeat(20)}` }, true],
  ['CheckResourceBody', 'POST /api/open/check/resource', { url: `magnet:?xt=urn:btih:${'a1'.repeat(20)}§` }, false],
  [
    'CheckResourceBody',
    'POST /api/open/check/resource',
    { url: `看magnet:?xt=urn:btih:${'a1'.repeat(20)}&dn=a b` },
    true,
  ],
  ['ProfileChangeBody', 'PATCH /api/site/me', { nickname: [['Ada']] }, false],
  ['ProfileChangeBody', 'PATCH /api/site/me', { nickname: 'Ada' }, true],
  [
    'CheckResourceBody',
    'POST /api/open/check/resource',
    { url: `ed2k://|file|film.mkv|700|${'a1'.repeat(16)}|/`, access_code: '' },
    true,
  ],
  ['UnlockBody', 'POST /api/open/resources/unlock', {}, false],
  ['UnlockBody', 'POST /api/open/resources/unlock', { slugs: [] }, false],
  ['UnlockBody', 'POST /api/open/resources/unlock', { slugs: ['a1'.repeat(16)] }, true],
  ['UnlockBody', 'POST /api/open/resources/unlock', { slugs: ['a1'.repeat(16), 'x'] }, false],
  [
    'UnlockBody',
    'POST /api/open/resources/unlock',
    { slugs: Array.from({ length: 21 }, () => 'a1'.repeat(16)) },
    false,
  ],
  ['NewApplicationBody', 'POST /api/site/applications', { ...APPLICATION, name: 'Player 影院' }, true],
  ['NewApplicationBody', 'POST /api/site/applications', { ...APPLICATION, name: 'Admin\u200b' }, false],
  ['NewApplicationBody', 'POST /api/site/applications', { ...APPLICATION, name: 'Kindless', kind: null }, false],
  [
    'NewApplicationBody',
    'POST /api/site/applications',
    { ...APPLICATION, name: 'Twice', scopes: ['meta', 'meta'] },
    false,
  ],
  ['QuotaProfileBody', 'PUT /api/site/admin/quota-profiles/rules', { group_per_minute: { meta: 5 } }, true],
  ['QuotaProfileBody', 'PUT /api/site/admin/quota-profiles/rules', { group_per_minute: { all: 5 } }, false],
  ['QuotaProfileBody', 'PUT /api/site/admin/quota-profiles/rules', { endpoint_per_day: { 'GET /x': 5 } }, false],
  ['NewApplicationBody', 'POST /api/site/applications', { ...APPLICATION, name: 'a\u{e0041}' }, false],
  ['NewApplicationBody', 'POST /api/site/applications', { ...APPLICATION, name: ' ' }, false],
  ...(
    [
      [{ redirect_uris: ['http://player.example.org/'] }, false],
      [{ redirect_uris: ['https://player.example.org/#a'] }, false],
      [{ redirect_uris: ['http://127.0.0.1:7/a?b=c'] }, true],
      [{ redirect_uris: ['org.example.player:/done'] }, false],
      [{ redirect_uris: ['org.example.player:/done'], kind: 'native' }, true],
      [{ redirect_uris: ['player:/done'], kind: 'native' }, false],
      [{ ip_allow: ['192.0.2.0/24', '2001:db8::1', '::/0', '1:2:3:4:5:6:7:8/128'] }, true],
      [{ ip_allow: ['192.0.2.0/33'] }, false],
      [{ ip_allow: ['somewhere'] }, false],
    ] as [object, boolean][]
  ).map(([more, valid]): (typeof CASES)[number] => [
    'NewApplicationBody',
    'POST /api/site/applications',
    { ...APPLICATION, name: 'Player', ...more },
    valid,
  ]),
  ['RegistrationBody', 'POST /api/site/register', { username: 'Demo-ada', password: 'correct horse battery' }, false],
];

describe('the description and the service agree', () => {
  it.each(CASES)('%s: %s %j', async (schema, line, body, valid) => {
    const validate = ajv.compile({ $ref: `description#/components/schemas/${schema}` });
    expect(validate(body), JSON.stringify(validate.errors)).toBe(valid);
    const { status, text } = await send(line, body);
    expect(status, text).toBe(valid ? 200 : 400);
  });

  it('on a change without fields, and on what is no slug', async () => {
    const made = await send(SHARES, { url: link('sw4aaaa'), tmdb_id: '1', media_type: 'movie' }).expect(200);
    const { slug } = (made.body as { data: { slug: string } }).data;
    await send(`PATCH /api/open/shares/${slug}`, {}).expect(400);
    await send('POST /api/open/resources/unlock', { slug: 'x' }).expect(400);
    const isValid = (schema: string, body: object): boolean =>
      ajv.compile({ $ref: `description#/components/schemas/${schema}` })(body);
    expect(isValid('UpdateShareBody', {})).toBe(false);
    expect(isValid('UpdateShareBody', { title: null })).toBe(true);
    expect(isValid('UnlockBody', { slug: 'x' })).toBe(false);
    expect(isValid('UnlockBody', { slug })).toBe(true);
  });

  it('on which bodies may be absent', () => {
    const { paths } = description as {
      paths: Record<string, Record<string, { requestBody?: { required?: boolean } }>>;
    };
    const needs = (path: string, method: string): unknown => paths[path]?.[method]?.requestBody?.required;
    expect(needs('/api/open/resources/unlock', 'post')).toBe(true);
    expect(needs('/api/open/shares/{slug}', 'patch')).toBe(true);
    expect(needs('/api/open/checkin', 'post')).toBe(false);
  });
});

describe('a missing field', () => {
  it.each([
    ['POST /api/open/resources/unlock', {}, 'slug'],
    ['POST /api/site/login', { username: 'ada' }, 'password'],
    ['POST /api/site/me/delete', {}, 'password'],
  ])('%s %j is called missing', async (line, body, field) => {
    const answer = await send(line, body).expect(400);
    expect(answer.body).toMatchObject({
      message: `${field}: is missing`,
      details: [{ field, message: 'is missing' }],
    });
    const chinese = await send(line, body).set('Accept-Language', 'zh-CN');
    expect((chinese.body as { message: string }).message).toBe(`${field}: 缺少此字段`);
  });
});
