import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '@gatehouse/testing';
import { recordOne } from './support/recorded-request.js';
import { PASSWORD, RowMaker, type Owner, type Rows } from './support/owned-rows.js';
import { caller, TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

/**
 * Who asks. `…Own` ask about rows of their own, `…Other` about those of the user; `key…` are the user's keys and
 * `adminKey…` those of an administrator.
 */
const WHO = [
  ...(['nobody', 'viewerOther', 'viewerOwn', 'userOwn', 'userOther', 'admin', 'keyRead', 'keyWrite'] as const),
  ...(['adminKeyRead', 'adminKeyWrite', 'adminKeyAdmin'] as const),
];
type Who = (typeof WHO)[number];

/** Not refused: neither 401 nor 403 nor 404, and no failure of the service either. */
type Expected = 'ok' | 401 | 403 | 404;

/** What each of them is answered, by what kind of operation it is. */
const RULES = {
  /** Without credentials. */
  open: ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  /** Every known user, about themselves or what they may see; lists are checked for rows of others. */
  known: [401, 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  /** Reads one row. */
  read: [401, 404, 'ok', 'ok', 404, 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  /** Changes one row, or makes one under it. */
  change: [401, 403, 403, 'ok', 404, 'ok', 403, 'ok', 403, 'ok', 'ok'],
  /** Makes something of one's own. */
  create: [401, 403, 403, 'ok', 'ok', 'ok', 403, 'ok', 403, 'ok', 'ok'],
  /** For administrators alone. */
  administer: [401, 403, 403, 403, 403, 'ok', 403, 403, 403, 403, 'ok'],
  /** For administrators who are logged in: it makes, changes or removes credentials of people. */
  administerPeople: [401, 403, 403, 403, 403, 'ok', 403, 403, 403, 403, 403],
  /** One's own account, after a login with its password. */
  account: [401, 'ok', 'ok', 'ok', 'ok', 'ok', 403, 403, 403, 403, 403],
  /** An API key ends itself. */
  ownKey: [401, 403, 403, 403, 403, 403, 'ok', 'ok', 'ok', 'ok', 'ok'],
  /** Ends a login or a key. */
  credential: [401, 404, 'ok', 'ok', 404, 'ok', 403, 403, 403, 403, 403],
} as const satisfies Record<string, readonly Expected[]>;

interface Operation {
  rule: keyof typeof RULES;
  /** The row that the path names. */
  of?: keyof Rows;
  /** What a list has rows of. */
  lists?: keyof Rows;
  query?: (rows: Rows) => string;
  body?: (rows: Rows) => object;
  /** In place of `ok` or 404: what is wrong with such a request is another thing. */
  except?: Partial<Record<Who, number>>;
  /** Takes away what others are still to ask about: everybody who may gets rows of their own. */
  consumes?: true;
}

const chain = makeCertificate({ subject: 'rows', names: ['*.rows.example.org'] });
const proof = { current_password: PASSWORD };
const about = ({ client }: Rows): string => `resource_type=client&resource_id=${client}`;
let names = 0;

/** Every operation of the interface description; a new one is one line here. */
const OPERATIONS: Record<string, Operation> = {
  auth_logIn: { rule: 'open', body: () => ({}) },
  auth_setupState: { rule: 'open' },
  deviceLogins_begin: { rule: 'open', body: () => ({ machine: 'laptop' }) },
  deviceLogins_poll: { rule: 'open', body: () => ({ device_code: 'unknown' }) },
  deviceLogins_find: { rule: 'account', body: () => ({ user_code: 'BCDF-GHJK' }) },
  deviceLogins_decide: { rule: 'account', body: () => ({ user_code: 'BCDF-GHJK', approved: false }) },
  auth_runSetup: { rule: 'open', body: () => ({}) },
  auth_me: { rule: 'known' },
  // The order matters: a wrong code of a factor that nobody has begun is a conflict.
  ownAccount_readPreferences: { rule: 'account' },
  ownAccount_savePreferences: { rule: 'account', body: () => ({ theme: 'dark' }) },
  ownAccount_confirmTotp: { rule: 'account', body: () => ({ code: '000000' }) },
  ownAccount_renewRecoveryCodes: { rule: 'account', body: () => proof },
  ownAccount_beginTotp: { rule: 'account', body: () => proof },
  ownAccount_endTotp: { rule: 'account', body: () => proof },
  ownAccount_changePassword: { rule: 'account', body: () => ({ ...proof, new_password: 'password' }) },

  users_list: { rule: 'known', lists: 'owner' },
  users_create: { rule: 'administerPeople', body: () => ({ username: `n${++names}`, password: 'a long password' }) },
  users_get: { rule: 'read', of: 'owner' },
  users_update: { rule: 'administerPeople', of: 'user', body: () => ({}) },
  users_remove: { rule: 'administerPeople', of: 'user', consumes: true },

  sessions_list: { rule: 'known', lists: 'session' },
  sessions_end: { rule: 'credential', of: 'session', consumes: true },
  apiKeys_list: { rule: 'known', lists: 'apiKey' },
  apiKeys_get: { rule: 'read', of: 'apiKey' },
  apiKeys_create: { rule: 'account', body: () => ({ ...proof, name: 'x' }) },
  apiKeys_revoke: { rule: 'credential', of: 'apiKey', consumes: true },

  clients_list: { rule: 'known', lists: 'client' },
  clients_get: { rule: 'read', of: 'client' },
  clients_connections: { rule: 'read', of: 'client' },
  clients_create: {
    rule: 'change',
    body: ({ owner }) => ({ name: 'x', owner_user_id: owner }),
    except: { userOther: 403, adminKeyWrite: 403 },
  },
  clients_update: { rule: 'change', of: 'client', body: () => ({}) },
  clients_rotateKey: { rule: 'change', of: 'client' },
  clients_lease: { rule: 'change', of: 'client', body: () => ({ seconds: 3600 }) },
  clients_kick: { rule: 'change', of: 'client' },
  clients_resetTraffic: { rule: 'change', of: 'client' },
  clients_remove: { rule: 'change', of: 'client', consumes: true },

  tunnels_list: { rule: 'known', lists: 'tunnel' },
  tunnels_get: { rule: 'read', of: 'tunnel' },
  tunnels_create: {
    rule: 'change',
    body: ({ client }) => ({ client_id: client, mode: 'secret', target_addr: 'a:1' }),
  },
  tunnels_update: { rule: 'change', of: 'tunnel', body: () => ({}) },
  tunnels_start: { rule: 'change', of: 'tunnel' },
  tunnels_stop: { rule: 'change', of: 'tunnel' },
  tunnels_rotateVisitorKey: { rule: 'change', of: 'tunnel' },
  tunnelChecks_check: { rule: 'change', of: 'tunnel' },
  tunnels_remove: { rule: 'change', of: 'tunnel', consumes: true },

  hosts_list: { rule: 'known', lists: 'host' },
  hosts_get: { rule: 'read', of: 'host' },
  hostRequests_list: { rule: 'read', of: 'host' },
  hostRequests_har: { rule: 'read', of: 'host' },
  hostRequests_get: { rule: 'read', of: 'host' },
  hostRequests_replay: { rule: 'change', of: 'host', body: ({ host }) => ({ request_id: requests.get(host) }) },
  hosts_create: {
    rule: 'change',
    body: ({ client }) => ({ client_id: client, host: `n${++names}.ulf.example.net`, target_addr: 'a:1' }),
  },
  hostChecks_check: { rule: 'change', of: 'host' },
  hosts_update: { rule: 'change', of: 'host', body: () => ({}) },
  certificates_list: { rule: 'known', lists: 'host' },
  certificates_get: { rule: 'read', of: 'host' },
  hostCertificates_upload: {
    rule: 'change',
    of: 'host',
    body: () => ({ certificate: chain.certificate, key: chain.key }),
  },
  hostCertificates_renew: { rule: 'change', of: 'host' },
  hostCertificates_remove: { rule: 'change', of: 'host', consumes: true },
  hosts_remove: { rule: 'change', of: 'host', consumes: true },

  domains_list: { rule: 'known', lists: 'domain' },
  domains_get: { rule: 'read', of: 'domain' },
  domains_create: { rule: 'create', body: () => ({ name: `n${++names}.example.com` }) },
  domains_verify: { rule: 'change', of: 'domain' },
  domains_remove: { rule: 'change', of: 'domain', consumes: true },

  addressLists_list: { rule: 'administer' },
  addressLists_get: { rule: 'administer', of: 'addressList' },
  addressLists_create: {
    rule: 'administer',
    body: () => ({ name: `n${++names}`, url: 'https://lists.example.org/x' }),
  },
  addressLists_update: { rule: 'administer', of: 'addressList', body: () => ({}) },
  addressLists_refresh: { rule: 'administer', of: 'addressList' },
  addressLists_remove: { rule: 'administer', of: 'addressList', consumes: true },

  ipRules_list: { rule: 'known', lists: 'rule' },
  ipRules_get: { rule: 'read', of: 'rule' },
  ipRules_check: { rule: 'read', query: (rows) => `ip=192.0.2.1&${about(rows)}` },
  ipRules_create: {
    rule: 'change',
    body: ({ client }) => ({ scope: 'client', resource_id: client, type: 'deny', pattern: '192.0.2.2' }),
    except: { userOther: 422 },
  },
  ipRules_update: { rule: 'change', of: 'rule', body: () => ({}) },
  ipRules_remove: { rule: 'change', of: 'rule', consumes: true },

  authPolicies_list: { rule: 'known', lists: 'policy' },
  authPolicies_get: { rule: 'read', of: 'policy' },
  authPolicies_create: {
    rule: 'change',
    body: ({ client }) => ({
      resource_type: 'client',
      resource_id: client,
      type: 'password',
      password: 'for visitors',
    }),
    except: { userOther: 422 },
  },
  authPolicies_update: { rule: 'change', of: 'policy', body: () => ({}) },
  authPolicies_remove: { rule: 'change', of: 'policy', consumes: true },

  flowStats_list: { rule: 'known' },
  flowStats_series: { rule: 'read', query: (rows) => `${about(rows)}&bucket=minute` },
  requestIps_list: { rule: 'known' },
  events_list: { rule: 'known' },
  changes_follow: { rule: 'known' },
  dashboard_get: { rule: 'known' },
  gateway_get: { rule: 'known' },

  edges_list: { rule: 'administer' },
  edges_drain: { rule: 'administer' },
  edges_serve: { rule: 'administer' },

  webhooks_list: { rule: 'known', lists: 'webhook' },
  webhooks_get: { rule: 'read', of: 'webhook' },
  webhooks_deliveries: { rule: 'read', of: 'webhook' },
  webhooks_create: { rule: 'create', body: () => ({ name: 'x', url: 'https://hooks.example.org/x' }) },
  webhooks_update: { rule: 'change', of: 'webhook', body: () => ({}) },
  webhooks_rotateSecret: { rule: 'change', of: 'webhook' },
  webhooks_test: { rule: 'change', of: 'webhook' },
  webhooks_remove: { rule: 'change', of: 'webhook', consumes: true },

  auditLogs_list: { rule: 'administer' },
  auditLogs_verify: { rule: 'administer' },

  transfer_import: { rule: 'administer', body: () => ({}) },
  transfer_export: { rule: 'administer' },
  transfer_restore: { rule: 'administerPeople', body: () => ({}) },

  sessions_endOthers: { rule: 'account' },
  apiKeys_revokeOwn: { rule: 'ownKey' },
  // The keys have just revoked themselves.
  auth_logOut: {
    rule: 'known',
    except: { keyRead: 401, keyWrite: 401, adminKeyRead: 401, adminKeyWrite: 401, adminKeyAdmin: 401 },
  },
};

interface Described {
  path: string;
  method: string;
}

let world: TunnelWorld;
let maker: RowMaker;
let described: Map<string, Described>;
const calls = {} as Record<Who, Caller>;
const owners = {} as Record<'viewer' | 'user', Owner>;
const rows = {} as Record<'viewer' | 'user', Rows>;
/** A recorded request of each host. */
const requests = new Map<number, string>();

beforeAll(async () => {
  world = await TunnelWorld.start({ API_RATE_LIMIT: '0' });
  maker = new RowMaker(world);
  const document: AnyJson = await (await fetch(`${world.gateway.url}/api/v1/openapi.json`)).json();
  described = new Map(
    Object.entries<AnyJson>(document.paths).flatMap(([path, item]) =>
      Object.entries<AnyJson>(item).map(([method, { operationId }]): [string, Described] => [
        operationId,
        { path: path.replace('/api/v1', ''), method: method.toUpperCase() },
      ]),
    ),
  );
  calls.nobody = caller(world.gateway.url, {});
  calls.admin = await maker.login('admin');
  for (const [who, name, role] of [
    ['viewerOther', 'vera', 'viewer'],
    ['viewerOwn', 'vic', 'viewer'],
    ['userOwn', 'ulf', 'user'],
    ['userOther', 'uma', 'user'],
  ] as const) {
    const { call, id } = await world.user(name, role);
    calls[who] = call;
    if (who === 'viewerOwn') owners.viewer = { id, name };
    if (who === 'userOwn') owners.user = { id, name };
  }
  for (const [who, scopes] of [
    ['keyRead', ['read']],
    ['keyWrite', ['write']],
  ] as const) {
    const { body } = await calls.userOwn('POST', '/api-keys', { name: who, scopes, ...proof });
    calls[who] = caller(world.gateway.url, { 'x-api-key': body.key });
  }
  for (const [who, scopes] of [
    ['adminKeyRead', ['read']],
    ['adminKeyWrite', ['write']],
    ['adminKeyAdmin', ['admin']],
  ] as const) {
    const { body } = await calls.admin('POST', '/api-keys', { name: who, scopes, ...proof });
    calls[who] = caller(world.gateway.url, { 'x-api-key': body.key });
  }
  await world.assign(owners.user, 'ulf.example.net');
  rows.viewer = await maker.rowsOf(owners.viewer);
  rows.user = await maker.rowsOf(owners.user);
  for (const { host } of Object.values(rows)) requests.set(host, (await recordOne(world, host)).id);
});
afterAll(() => world.close());

/** Whose rows they ask about. */
const side = (who: Who): 'viewer' | 'user' => (who === 'viewerOwn' ? 'viewer' : 'user');

async function ask(id: string, who: Who, target: Rows): Promise<{ status: number; body: AnyJson }> {
  const { path = '', method = '' } = described.get(id) ?? {};
  const { of, query, body } = OPERATIONS[id] ?? { rule: 'open' };
  const place = of === undefined ? path : path.replace('{id}', String(target[of]));
  const named = place.replace('{requestId}', requests.get(target.host) ?? '');
  const sent = query ? `${named}?${query(target)}` : named;
  return calls[who](method, sent, body?.(target));
}

/** Every page of a list: rows of others must not be on a later one either. */
async function idsOf(id: string, who: Who): Promise<number[]> {
  const { path = '' } = described.get(id) ?? {};
  const found: number[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body }: AnyJson = await calls[who]('GET', `${path}?limit=200${cursor && `&cursor=${cursor}`}`);
    found.push(...body.items.map((item: AnyJson) => item.id ?? item.host_id));
    cursor = body.next_cursor;
  }
  return found;
}

describe('the table of access rights', () => {
  it('covers every documented operation and no other', () => {
    expect(Object.keys(OPERATIONS).toSorted()).toEqual([...described.keys()].toSorted());
  });

  it.each(Object.entries(OPERATIONS))('%s', async (id, { rule, of, lists, except = {}, consumes }) => {
    const answered: Record<string, number> = {};
    const wanted: Record<string, unknown> = {};
    for (const [index, who] of WHO.entries()) {
      const expected = except[who] ?? RULES[rule][index] ?? 'ok';
      const own = side(who);
      const fresh = consumes && of && expected === 'ok';
      const target = fresh ? await maker.rowOf(of, owners[own], rows[own]) : rows[own];
      const { status, body } = await ask(id, who, target);
      answered[who] = status;
      wanted[who] = expected === 'ok' ? expect.toSatisfy(passed) : expected;
      if (status >= 400) expect(body, `${id} ${who}`).toMatchObject({ status, code: expect.any(String) });
    }
    expect(answered).toEqual(wanted);
    if (lists === undefined) return;
    for (const who of WHO.filter((each) => each !== 'nobody')) {
      const found = await idsOf(id, who);
      const owns = who !== 'viewerOther' && who !== 'userOther';
      expect(found.includes(rows[side(who)][lists]), `${who} sees their own`).toBe(owns);
      const others = side(who) === 'viewer' ? rows.user : rows.viewer;
      expect(found.includes(others[lists]), `${who} sees others'`).toBe(who.startsWith('admin'));
    }
  });
});

function passed(status: number): boolean {
  return status < 500 && ![401, 403, 404].includes(status);
}

describe('an administrator', () => {
  it('can read all rows with a read-only key, and change none', async () => {
    calls.admin = await maker.login('admin');
    const { body } = await calls.admin('POST', '/api-keys', { name: 'monitor', ...proof });
    const key = caller(world.gateway.url, { 'x-api-key': body.key });
    expect((await key('GET', `/clients/${rows.user.client}`)).status).toBe(200);
    expect((await key('GET', '/users')).body.items.length).toBeGreaterThan(4);
    const summary = (await key('GET', '/dashboard')).body;
    expect(summary.totals).toEqual((await calls.admin('GET', '/dashboard')).body.totals);
    expect((await key('PATCH', `/clients/${rows.user.client}`, {})).status).toBe(403);
    expect((await key('POST', '/users', { username: 'x', password: 'a long password' })).status).toBe(403);
  });
});
