import { writeFileSync } from 'node:fs';
import type { OperationExample } from '@gatehouse/platform';
import { waitFor, WebhookReceiver } from '@gatehouse/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES_FILE, loadExamples } from '../src/api-reference/reference-texts.js';
import { createAccounts, createShares } from './points-support.js';
import { startSite, type SiteApp } from './site-app.js';
import { API_WALK, type WalkCaller, type WalkStep } from './support/api-walk.js';
import { Authenticator } from './support/authenticator.js';
import { PASSWORD, ThirdParty } from './support/third-party.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyJson = any;

interface Found {
  readonly place: string[];
  readonly path: string;
  readonly operation: AnyJson;
}

/** Writes the exchanges down, for the description, instead of comparing them with what is written there. */
const recording = process.env['RECORD_EXAMPLES'] === '1';
const exchanges: OperationExample[] = [];
/** What answers brought, by the name under which the walk keeps it. */
const values = new Map<string, string>();
const cookies = new Map<WalkCaller, string>();

let site: SiteApp;
let document: AnyJson;
let operations: Map<string, Found>;
let ajv: Ajv2020;
let receiver: WebhookReceiver;
let bob: number;

beforeAll(async () => {
  site = await startSite({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
  document = await (await fetch(`${site.url}/api/open/openapi.json`)).json();
  operations = operationsOf(document);
  ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'description');
  const sql = site.app.get(DataSource);
  [bob] = (await createAccounts(sql, 1)) as [number];
  const [share] = await createShares(sql, bob);
  const [title] = (await sql.query('SELECT movie_id AS id FROM shares WHERE id = $1', [share?.id])) as [{ id: number }];
  values.set('title', String(title.id));
  values.set('foreignSlug', (share?.slug ?? '').replaceAll('-', ''));
  cookies.set('admin', await cookieOf('admin'));
  receiver = await WebhookReceiver.start();
  const [admin] = (await sql.query(`SELECT id FROM site_accounts WHERE username = 'admin'`)) as [{ id: number }];
  const { clientId } = await new ThirdParty(site).register(admin.id);
  values.set('adminClient', clientId);
});
afterAll(async () => {
  if (recording) writeFileSync(EXAMPLES_FILE, `${JSON.stringify(exchanges.map(forReaders), null, 2)}\n`);
  await receiver[Symbol.asyncDispose]();
  await site.close();
});

function operationsOf({ paths }: AnyJson): Map<string, Found> {
  return new Map(
    Object.entries<AnyJson>(paths).flatMap(([path, item]) =>
      Object.entries<AnyJson>(item).map(([method, operation]): [string, Found] => [
        operation.operationId,
        { place: ['paths', path, method], path, operation },
      ]),
    ),
  );
}

async function cookieOf(username: string): Promise<string> {
  const answer = await request(site.url).post('/api/site/login').send({ username, password: PASSWORD }).expect(200);
  return cookieIn(answer) ?? '';
}

function cookieIn(answer: request.Response): string | undefined {
  return answer.headers['set-cookie']?.[0]?.split(';')[0];
}

/** What is wrong with a value by the schema at a place of the description. */
function problems(place: string[], value: unknown): string[] {
  const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  const validate = ajv.compile({ $ref: `description#/${pointer}` });
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const filledText = (text: string): string =>
  text.replaceAll(/:([a-z]\w*)/gi, (whole, name: string) => values.get(name) ?? whole);
const filledBody = (body: WalkStep['body']): Record<string, unknown> | undefined =>
  body &&
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? filledText(value) : value]),
  );

function send({ as, send: line, form, bearer }: WalkStep, body: object | undefined): request.Test {
  const [method = '', address = ''] = line.split(' ');
  const test = request(site.url)[method.toLowerCase() as 'get'](filledText(address));
  for (const [name, value] of Object.entries(credentialsOf(as))) void test.set(name, value);
  if (bearer !== undefined) void test.set('Authorization', `Bearer ${filledText(bearer)}`);
  // English, so that readers of the description see one language.
  void test.set('Accept-Language', 'en');
  if (form) void test.type('form');
  return body === undefined ? test : test.send(body);
}

/** Mails are written by jobs. */
async function answerWith(step: WalkStep, body: object | undefined): Promise<request.Response> {
  const parts = Object.values(step.find ?? {});
  return waitFor(async () => {
    const answer = await send(step, body);
    return answer.status !== 200 || parts.every((part) => part.test(answer.text)) ? answer : undefined;
  });
}

function credentialsOf(caller: WalkCaller): Record<string, string> {
  if (caller === 'visitor') return {};
  if (caller === 'admin' || caller === 'ada') return { Cookie: cookies.get(caller) ?? '' };
  if (caller === 'key') return { 'X-API-Key': values.get('key') ?? '' };
  const secret = { 'X-API-Key': values.get('secret') ?? '' };
  return caller === 'client' ? secret : { ...secret, Authorization: `Bearer ${values.get('token') ?? ''}` };
}

describe('the description of the API', () => {
  it('has a summary, a description and an example for each operation', () => {
    const shown = new Set(API_WALK.map(({ operation }) => operation));
    expect([...operations.keys()].filter((id) => !shown.has(id))).toEqual([]);
    for (const [id, { operation }] of operations) {
      expect(operation.summary, id).toBeTypeOf('string');
      expect(operation.description, id).toMatch(/\.$/);
      expect(operation['x-codeSamples'], id).toHaveLength(4);
    }
  });

  it.each(API_WALK.map((step) => [step.operation, step] as const))('%s is answered as documented', async (id, step) => {
    const { place, operation } = operations.get(id) ?? { place: [], operation: {} };
    const factor = values.get('factor');
    if (factor !== undefined) values.set('factorCode', await Authenticator.from(factor).code());
    if (step.meanwhile === 'share') await createShares(site.app.get(DataSource), bob);
    const body = filledBody(step.body);
    const media = step.form ? 'application/x-www-form-urlencoded' : 'application/json';
    if (body) expect(problems([...place, 'requestBody', 'content', media, 'schema'], body)).toEqual([]);
    const answer = await answerWith(step, body);
    expect(answer.status, answer.text).toBe(200);
    const described = operation.responses['200'].content['application/json'].schema;
    expect(described).toBeTypeOf('object');
    const where = [...place, 'responses', '200', 'content', 'application/json', 'schema'];
    expect(problems(where, answer.body)).toEqual([]);
    for (const [name, path] of Object.entries(step.keep ?? {})) values.set(name, String(valueAt(answer.body, path)));
    for (const [name, part] of Object.entries(step.find ?? {})) values.set(name, part.exec(answer.text)?.[1] ?? '');
    const cookie = cookieIn(answer);
    if (cookie !== undefined && (step.as === 'visitor' || step.as === 'ada')) cookies.set('ada', cookie);
    keep(step, body, answer);
    // What it receives is shown, and no address that a reader would know is called.
    if (id === 'webhooks_create') await site.app.get(DataSource).query('UPDATE webhooks SET url = $1', [receiver.url]);
  });

  it.skipIf(recording)('shows the recorded requests', async () => {
    const asSent = (example: OperationExample): unknown => ({ ...example, answer: undefined });
    expect((await loadExamples()).map(asSent)).toEqual(exchanges.map(forReaders).map(asSent));
    const { operation } = operations.get('shares_create') ?? { operation: {} };
    expect(operation.requestBody.content['application/json'].examples).toHaveProperty('shares_create');
    expect(operation.responses['200'].content['application/json'].examples).toHaveProperty('shares_create');
  });
});

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<AnyJson>((inner, part) => inner?.[part], value);
}

function keep({ operation, send: line }: WalkStep, body: object | undefined, answer: request.Response): void {
  const count = exchanges.filter((exchange) => exchange.operation === operation).length;
  const [address = '', query = ''] = filledText(line.split(' ')[1] ?? '').split('?');
  // Mails about notices are written whenever a schedule runs, so ids of mails differ.
  const path =
    operation === 'adminMails_one' ? { id: 12 } : parametersIn(operations.get(operation)?.path ?? '', address);
  exchanges.push({
    operation,
    name: count === 0 ? operation : `${operation}_${count + 1}`,
    ...(Object.keys(path).length > 0 && { path }),
    ...(query !== '' && { query: Object.fromEntries(new URLSearchParams(query)) }),
    ...(body !== undefined && { body }),
    status: answer.status,
    mediaType: 'application/json',
    answer: answer.body as unknown,
  });
}

/** `/a/{id}` and `/a/7` give `{ id: 7 }`. */
function parametersIn(template: string, address: string): Record<string, string | number> {
  const given = address.split('/');
  return Object.fromEntries(
    template.split('/').flatMap((part, index) => {
      const name = /^\{(.+)\}$/.exec(part)?.[1];
      return name === undefined ? [] : [[name, numberOr(given[index] ?? '')]];
    }),
  );
}

const numberOr = (text: string): string | number => (/^\d{1,9}$/.test(text) ? Number(text) : text);

/** What stands in examples for values that differ with each run. */
const STANDS_FOR: Readonly<Record<string, string>> = {
  client: 'app_5f1c0e9d2b7a4c38',
  adminClient: 'app_8d3b6f0a1c5e7d29',
  mailToken: '6f1d2c3b-…',
  resetToken: '9a8b7c6d-…',
  factor: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  deviceCode: 'hdc_…',
  userCode: 'WDJB-MJHT',
  slug: '0b6f2d4c9a7e4e5c8d1f3a2b4c6d8e0f',
  foreignSlug: '7e3a1c5d9b2f4a6c8e0d2b4f6a8c0e1d',
};

function forReaders(exchange: OperationExample): OperationExample {
  const text = Object.entries(STANDS_FOR).reduce(
    (shown, [name, fixed]) => shown.replaceAll(values.get(name) ?? '\0', fixed),
    JSON.stringify(exchange, shortened)
      .replaceAll(site.url, 'https://gatehouse.example')
      .replaceAll(receiver.url, 'https://hooks.example.org/gatehouse'),
  );
  return JSON.parse(text) as OperationExample;
}

const RECOVERY_CODE = 'k3xq-7m2p-ab5r-w6tz';
const SECRETS = new Set([
  'access_token',
  'client_secret',
  'code',
  'id_token',
  'kid',
  'n',
  'refresh_token',
  'secret',
  'token',
]);

/** Lists are long, and what is secret looks like that. */
function shortened(name: string, value: unknown): unknown {
  if (name === 'recovery_codes') return [RECOVERY_CODE];
  if (name === 'code' && typeof value === 'string' && /^\d{6}$/.test(value)) return '492039';
  if (name === 'code' && typeof value === 'string' && /^(?:[a-z2-7]{4}-){3}/.test(value)) return RECOVERY_CODE;
  if (Array.isArray(value)) return value.slice(0, 3) as unknown[];
  if (typeof value !== 'string' || !SECRETS.has(name) || value.length < 16) return value;
  return `${/^[a-z]+_/.exec(value)?.[0] ?? ''}…`;
}
