import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_SCOPES, type OpenScope } from '../src/credentials/caller.js';
import { startOpenSite } from './support/open-site.js';
import { ThirdParty } from './support/third-party.js';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly scope: OpenScope;
  readonly user: 'optional' | 'required' | 'premium';
}

/** Who calls, and what the guard has to say to them: a code, or undefined where the call gets through to the operation. */
interface Row {
  readonly who: string;
  readonly headers: (operation: Operation) => Record<string, string>;
  readonly expected: (operation: Operation) => string | undefined;
}

const GUARD_CODES = [
  'MISSING_API_KEY INVALID_API_KEY DISABLED_API_KEY EXPIRED_API_KEY IP_NOT_ALLOWED ENDPOINT_DISABLED SCOPE_NOT_ALLOWED',
  'USER_SCOPE_NOT_ALLOWED OPENAPI_USER_REQUIRED VIP_REQUIRED INVALID_OPENAPI_USER_TOKEN OPENAPI_REFRESH_REQUIRED',
  'OPENAPI_REAUTH_REQUIRED',
]
  .join(' ')
  .split(' ');

let site: Awaited<ReturnType<typeof startOpenSite>>;
let operations: Operation[];
let rows: Row[];

beforeAll(async () => {
  site = await startOpenSite({ API_RATE_LIMIT: '0' });
  operations = await describedOperations(site.url);
  rows = await matrix(new ThirdParty(site));
});
afterAll(() => site.close());

async function describedOperations(url: string): Promise<Operation[]> {
  const { body } = await request(url).get('/api/open/openapi.json');
  const { paths } = body as { paths: Record<string, Record<string, Record<string, unknown>>> };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/open/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({
        method,
        path,
        scope: described['x-scope'] as OpenScope,
        user: described['x-user'] as Operation['user'],
      })),
    );
}

const without = (scope: OpenScope): OpenScope[] => OPEN_SCOPES.filter((other) => other !== scope);
const ofScope = async <T>(make: (scope: OpenScope) => Promise<T>): Promise<Record<OpenScope, T>> =>
  Object.fromEntries(
    await Promise.all(OPEN_SCOPES.map(async (scope) => [scope, await make(scope)] as const)),
  ) as Record<OpenScope, T>;

async function matrix(party: ThirdParty): Promise<Row[]> {
  const owner = await party.user();
  const plain = await party.user();
  const premium = await party.user();
  await party.sql.query("UPDATE site_accounts SET premium_until = '2999-01-01' WHERE id = $1", [premium.id]);
  const app = await party.register(owner.id);
  const bound = await party.register(premium.id);
  await party.bind(premium.id, bound.clientId);
  const other = await party.register(owner.id);
  const narrowApp = await ofScope((scope) => party.register(owner.id, { scopes: without(scope) }));
  const narrowToken = await ofScope((scope) => party.tokens(app, premium.id, { scope: without(scope).join(' ') }));
  const narrowKey = await ofScope((scope) => party.keys.create(premium.id, { name: scope, scopes: without(scope) }));
  const key = await party.keys.create(premium.id, { name: 'all', scopes: OPEN_SCOPES });
  const plainKey = await party.keys.create(plain.id, { name: 'most', scopes: without('vip') });
  const plainToken = await party.tokens(app, plain.id);
  const token = await party.tokens(app, premium.id);
  const foreign = await party.tokens(other, premium.id);
  const open = await party.register(owner.id, { kind: 'public' });
  const openToken = await party.publicTokens(open, premium.id);
  const plainOpenToken = await party.publicTokens(open, plain.id);
  const narrowOpenToken = await ofScope((scope) =>
    party.publicTokens(open, premium.id, { scope: without(scope).join(' ') }),
  );

  const api =
    (secret: string): Row['headers'] =>
    () => ({ 'X-API-Key': secret });
  const both =
    (secret: string, bearer: string): Row['headers'] =>
    () => ({
      'X-API-Key': secret,
      Authorization: `Bearer ${bearer}`,
    });
  const bearer =
    (token: string): Row['headers'] =>
    () => ({ Authorization: `Bearer ${token}` });
  const always =
    (code: string | undefined): Row['expected'] =>
    () =>
      code;
  return [
    { who: 'nobody', headers: () => ({}), expected: always('MISSING_API_KEY') },
    { who: 'garbage', headers: api('hk_x'), expected: always('INVALID_API_KEY') },
    {
      who: 'a user token alone',
      headers: bearer(token.access_token),
      expected: always('MISSING_API_KEY'),
    },
    {
      who: 'the key of a public application alone',
      headers: api(open.secret),
      expected: always('OPENAPI_USER_REQUIRED'),
    },
    {
      who: 'the token of a public application alone',
      headers: bearer(openToken.access_token),
      expected: always(undefined),
    },
    {
      who: 'the token of a public application alone, for a user without Premium',
      headers: bearer(plainOpenToken.access_token),
      expected: ({ user }) => (user === 'premium' ? 'VIP_REQUIRED' : undefined),
    },
    {
      who: 'the token of a public application alone, without the scope',
      headers: ({ scope }) => bearer(narrowOpenToken[scope].access_token)({} as Operation),
      expected: always('USER_SCOPE_NOT_ALLOWED'),
    },
    {
      who: 'a public application with key and token',
      headers: both(open.secret, openToken.access_token),
      expected: always(undefined),
    },
    {
      who: 'an application with the token of a public one',
      headers: both(app.secret, openToken.access_token),
      expected: always('INVALID_OPENAPI_USER_TOKEN'),
    },
    {
      who: 'an application without a user',
      headers: api(app.secret),
      expected: ({ user }) => (user === 'optional' ? undefined : 'OPENAPI_USER_REQUIRED'),
    },
    { who: 'an application bound to its owner', headers: api(bound.secret), expected: always(undefined) },
    {
      who: 'an application without the scope',
      headers: ({ scope }) => api(narrowApp[scope].secret)({} as Operation),
      expected: always('SCOPE_NOT_ALLOWED'),
    },
    {
      who: 'an application for a user with Premium',
      headers: both(app.secret, token.access_token),
      expected: always(undefined),
    },
    {
      who: 'an application for a user without Premium',
      headers: both(app.secret, plainToken.access_token),
      expected: ({ user }) => (user === 'premium' ? 'VIP_REQUIRED' : undefined),
    },
    {
      who: 'an application for a user who did not grant the scope',
      headers: ({ scope }) => both(app.secret, narrowToken[scope].access_token)({} as Operation),
      expected: always('USER_SCOPE_NOT_ALLOWED'),
    },
    {
      who: 'an application with the token of another',
      headers: both(app.secret, foreign.access_token),
      expected: always('INVALID_OPENAPI_USER_TOKEN'),
    },
    {
      who: 'an application with a refresh token',
      headers: both(app.secret, token.refresh_token),
      expected: always('INVALID_OPENAPI_USER_TOKEN'),
    },
    { who: 'a personal key', headers: api(key.secret), expected: always(undefined) },
    {
      who: 'a personal key without the scope',
      headers: ({ scope }) => api(narrowKey[scope].secret)({} as Operation),
      expected: always('SCOPE_NOT_ALLOWED'),
    },
    {
      who: 'a personal key without Premium',
      headers: api(plainKey.secret),
      expected: ({ scope }) => (scope === 'vip' ? 'SCOPE_NOT_ALLOWED' : undefined),
    },
    {
      who: 'a personal key with a user token',
      headers: both(key.secret, token.access_token),
      expected: always('INVALID_OPENAPI_USER_TOKEN'),
    },
  ];
}

describe('the authorization matrix of the interface description', () => {
  it('has every operation of the open API with its scope', () => {
    const names = operations.map(({ method, path }) => `${method} ${path}`);
    expect(names).toContain('post /api/open/resources/unlock');
    expect(operations.filter(({ scope }) => !OPEN_SCOPES.includes(scope))).toEqual([]);
  });

  it('is true for every operation and every kind of caller', async () => {
    const wrong: unknown[] = [];
    let calls = 0;
    for (const operation of operations) {
      for (const { who, headers, expected } of rows) {
        const path = operation.path.replaceAll(/\{[^}]+\}/g, '1');
        const answer = await request(site.url)[operation.method as 'get'](path).set(headers(operation));
        calls += 1;
        const { code } = answer.body as { code: string };
        const said = GUARD_CODES.includes(code) ? code : undefined;
        const due = expected(operation);
        const challenged = answer.status !== 401 || answer.headers['www-authenticate'] !== undefined;
        if (said !== due || answer.status >= 500 || !challenged)
          wrong.push({ ...operation, who, due, status: answer.status, code });
      }
    }
    expect(wrong).toEqual([]);
    expect(calls).toBe(operations.length * rows.length);
  });
});
