import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ShareLooks } from '../src/risk/share-looks.js';
import { ShareCounters } from '../src/shares/share-counters.js';
import { AccountLinks, type LinkPurpose } from '../src/mails/account-links.js';
import { Authenticator } from './support/authenticator.js';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { CALLBACK, PASSWORD, ThirdParty } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Record<string, boolean> };
}

let site: SiteApp & { replica: () => Promise<SiteApp> };
let people: ThirdParty;

const newName = (): string => `person-${randomBytes(5).toString('hex')}`;
const member = async (): Promise<{ id: number; name: string; reader: PageReader }> => {
  const user = await people.user(newName());
  const reader = new PageReader(site.url);
  await reader.logIn(user.name, PASSWORD);
  return { ...user, reader };
};
const admin = async (): Promise<PageReader> => {
  const reader = new PageReader(site.url);
  await reader.logIn('admin', PASSWORD);
  return reader;
};
const found = (reader: PageReader, pattern: RegExp): string => pattern.exec(reader.page)?.[1] ?? '';

beforeAll(async () => {
  site = await startOpenSite({ SITE_REGISTRATIONS_PER_HOUR: '1000', GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
  people = new ThirdParty(site);
});
afterAll(() => site.close());

const APPLICATION = { name: 'Player', description: '', kind: 'confidential', redirect_uris: CALLBACK, scopes: 'meta' };

/** Sends a good form and returns who sent it. */
type Sender = () => Promise<PageReader>;

async function ownApplication(): Promise<{ reader: PageReader; clientId: string; path: string }> {
  const { id, reader } = await member();
  const { clientId } = await people.register(id, {}, { reviewed: false });
  await reader.get(`/developer/${clientId}`);
  return { reader, clientId, path: `/developer/${clientId}` };
}

/** A webhook that leads to where no developer may lead it, and a message that was given up. */
async function ownWebhook(): Promise<{ reader: PageReader; path: string; delivery: string }> {
  const { reader, path } = await ownApplication();
  await reader.get(`${path}/webhooks`);
  await reader.submit(`${path}/webhooks`, {
    name: 'chat',
    url: 'https://hooks.example.org/',
    event_types: 'quota.near',
  });
  const at = reader.location.replace('?done=webhook', '');
  const id = Number(at.split('/').at(-1));
  await people.sql.query(`UPDATE webhooks SET url = 'https://127.0.0.1:1/' WHERE id = $1`, [id]);
  const [row] = (await people.sql.query(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, body, status, finished_at)
     VALUES ($1, 1, 'quota.near', '{}', 'dead', now()) RETURNING id`,
    [id],
  )) as [{ id: number }];
  await reader.get(at);
  return { reader, path: at, delivery: `${at}/deliveries/${row.id}` };
}

const ofWebhook =
  (action: string, values: Record<string, string> = {}): Sender =>
  async () => {
    const { reader, path } = await ownWebhook();
    await reader.submit(`${path}${action}`, values);
    return reader;
  };

async function ownShare(): Promise<{ reader: PageReader; slug: string }> {
  const { reader } = await member();
  await reader.get('/shares');
  const url = `https://115.com/s/${randomBytes(6).toString('hex')}?password=a1b2`;
  await reader.submit('/shares', { media_type: 'movie', tmdb_id: '550', title: 'Film', unlock_points: '5', url });
  await reader.follow();
  return { reader, slug: found(reader, /action="\/shares\/(\w+)\/delete"/) };
}

const consenting =
  (path: string): Sender =>
  async () => {
    const app = await people.register((await people.user()).id);
    const { reader } = await member();
    const query = new URLSearchParams({ response_type: 'code', client_id: app.clientId, redirect_uri: CALLBACK });
    await reader.get(`${path}?${query.toString()}`);
    await reader.submit(`${path}?${query.toString()}`, { decision: 'allow', scope: 'meta' });
    return reader;
  };

const asAdminOfUser =
  (action: string, values: Record<string, string> = {}): Sender =>
  async () => {
    const { id } = await people.user(newName());
    const reader = await admin();
    await reader.get(`/admin/users/${id}`);
    await reader.submit(`/admin/users/${id}${action}`, values);
    return reader;
  };

const asAdminOfShare =
  (action: string): Sender =>
  async () => {
    const { slug } = await ownShare();
    const reader = await admin();
    await reader.get('/admin/shares');
    await reader.submit(`/admin/shares/${slug}/${action}`);
    return reader;
  };

const ofAccount =
  (action: string, values: Record<string, string> = {}): Sender =>
  async () => {
    const { reader } = await member();
    await reader.get('/account');
    await reader.submit(`/account/${action}`, values);
    return reader;
  };

const inTestMode =
  (form: string, values: Record<string, string> = {}) =>
  async (): Promise<PageReader> => {
    const { reader, path } = await ownApplication();
    await reader.get(`${path}/test-mode`);
    await reader.submit(`${path}/test-mode${form}`, values);
    return reader;
  };

const ofApplication =
  (action: string, values: Record<string, string> = {}): Sender =>
  async () => {
    const { reader, path } = await ownApplication();
    await reader.submit(`${path}${action}`, values);
    return reader;
  };

/** Sends a form of the page that a link leads to, or of the account page. */
async function withLink(purpose: LinkPurpose, path: string, values: Record<string, string> = {}): Promise<PageReader> {
  const { id, name, reader } = await member();
  const email = `${name}@example.org`;
  await people.sql.query(
    'UPDATE site_accounts SET email = $2, email_verified_at = CASE WHEN $3 THEN now() END WHERE id = $1',
    [id, email, purpose === 'reset_password'],
  );
  const links = site.app.get(AccountLinks);
  const link = await people.sql.transaction((tx) => links.create(tx, { userId: id, purpose, email }));
  await reader.get(path.startsWith('/account') ? '/account' : `${path}?token=${links.tokenOf(link)}`);
  await reader.submit(path, values);
  return reader;
}

const withNotice =
  (submit: (reader: PageReader) => Promise<unknown>): Sender =>
  async () => {
    const { id, reader } = await member();
    await people.keys.create(id, { name: 'Mine', scopes: ['meta'] });
    await reader.get('/notices');
    await submit(reader);
    return reader;
  };

/** A member whose authenticator app has been set up, up to the last step. */
async function withFactor({ confirmed }: { confirmed: boolean }): Promise<{
  id: number;
  name: string;
  reader: PageReader;
  app: Authenticator;
}> {
  const { id, name, reader } = await member();
  await reader.get('/account/second-factor');
  await reader.submit('/account/second-factor', { current_password: PASSWORD });
  await reader.follow();
  const app = Authenticator.from(found(reader, /<code>([A-Z2-7 ]+)<\/code>/));
  if (confirmed) {
    await reader.submit('/account/second-factor/confirm', { code: await app.code() });
    await reader.follow();
  }
  return { id, name, reader, app };
}

const proving =
  (action: string): Sender =>
  async () => {
    const { reader, app } = await withFactor({ confirmed: true });
    await reader.submit(`/account/second-factor/${action}`, {
      current_password: PASSWORD,
      code: await app.code(1),
    });
    return reader;
  };

/** A member in front of the page for the code of a device that waits. */
async function atDevice(submit: (reader: PageReader, userCode: string) => Promise<unknown>): Promise<PageReader> {
  const { clientId } = await people.register((await people.user()).id, { kind: 'native' });
  const begun = await request(site.url).post('/oauth2/device_authorization').type('form').send({ client_id: clientId });
  const { reader } = await member();
  await reader.get('/device');
  await submit(reader, (begun.body as { user_code: string }).user_code);
  return reader;
}

const FORMS: Readonly<Record<string, Sender>> = {
  '/forgot-password': async () => {
    const reader = new PageReader(site.url);
    await reader.get('/forgot-password');
    await reader.submit('/forgot-password', { account: newName() });
    return reader;
  },
  '/reset-password': () => withLink('reset_password', '/reset-password', { new_password: `${PASSWORD} 2` }),
  '/verify-email': () => withLink('verify_email', '/verify-email'),
  '/account/email-verification': () => withLink('verify_email', '/account/email-verification'),
  '/login': async () => (await member()).reader,
  '/login/code': async () => {
    const { name, app } = await withFactor({ confirmed: true });
    const reader = new PageReader(site.url);
    await reader.get('/login');
    await reader.submit('/login', { username: name, password: PASSWORD });
    await reader.submit('/login/code', { code: await app.code(1) });
    return reader;
  },
  '/account/second-factor': async () => {
    const { reader } = await member();
    await reader.get('/account/second-factor');
    await reader.submit('/account/second-factor', { current_password: PASSWORD });
    return reader;
  },
  '/account/second-factor/confirm': async () => {
    const { reader, app } = await withFactor({ confirmed: false });
    await reader.submit('/account/second-factor/confirm', { code: await app.code() });
    return reader;
  },
  '/account/second-factor/recovery-codes': proving('recovery-codes'),
  '/account/second-factor/disable': proving('disable'),
  '/admin/users/:id/second-factor': async () => {
    const { id } = await withFactor({ confirmed: true });
    const reader = await admin();
    await reader.get(`/admin/users/${id}`);
    await reader.submit(`/admin/users/${id}/second-factor`);
    return reader;
  },
  '/register': async () => {
    const reader = new PageReader(site.url);
    await reader.get('/register');
    await reader.submit('/register', { username: newName(), password: PASSWORD });
    return reader;
  },
  '/logout': async () => {
    const { reader } = await member();
    await reader.get('/');
    await reader.submit('/logout');
    return reader;
  },
  '/demo': async () => {
    const reader = await admin();
    await reader.get('/');
    await reader.submit('/demo');
    return reader;
  },
  '/openapi/authorize': consenting('/openapi/authorize'),
  '/oauth2/authorize': consenting('/oauth2/authorize'),
  '/device': () => atDevice((reader, code) => reader.submit('/device', { user_code: code })),
  '/device/confirm': () =>
    atDevice(async (reader, code) => {
      await reader.submit('/device', { user_code: code });
      await reader.follow();
      await reader.submit('/device/confirm', { decision: 'allow', scope: 'meta' });
    }),
  '/preferences': async () => {
    const { reader } = await member();
    await reader.get('/account');
    await reader.submit('/preferences', { language: 'zh-CN', theme: 'dark' });
    return reader;
  },
  '/account/profile': ofAccount('profile', { nickname: 'Ada', email: '' }),
  '/account/password': ofAccount('password', { current_password: PASSWORD, new_password: 'another battery' }),
  '/account/sessions/end-all': ofAccount('sessions/end-all'),
  '/account/sessions/:id/end': async () => {
    const { name, reader } = await member();
    await new PageReader(site.url).logIn(name, PASSWORD);
    await reader.get('/account');
    await reader.submit(found(reader, /action="(\/account\/sessions\/\d+\/end)"/));
    return reader;
  },
  '/account/delete': ofAccount('delete', { password: PASSWORD }),
  '/developer/:client_id/webhooks': async () => {
    const { reader, path } = await ownApplication();
    await reader.get(`${path}/webhooks`);
    await reader.submit(`${path}/webhooks`, { name: 'chat', url: 'https://hooks.example.org/' });
    return reader;
  },
  '/developer/:client_id/webhooks/:id': ofWebhook('', { name: 'chat', url: 'https://hooks.example.org/other' }),
  '/developer/:client_id/webhooks/:id/delete': ofWebhook('/delete'),
  '/developer/:client_id/webhooks/:id/secret': ofWebhook('/secret'),
  '/developer/:client_id/webhooks/:id/test': ofWebhook('/test'),
  '/developer/:client_id/webhooks/:id/replay': ofWebhook('/replay'),
  '/developer/:client_id/webhooks/:id/deliveries/:delivery_id/replay': async () => {
    const { reader, delivery } = await ownWebhook();
    await reader.submit(`${delivery}/replay`);
    return reader;
  },
  '/developer/:client_id/test-mode/keys': inTestMode('/keys'),
  '/developer/:client_id/test-mode/keys/:id/end': async () => {
    const { reader, path } = await ownApplication();
    await reader.get(`${path}/test-mode`);
    await reader.submit(`${path}/test-mode/keys`);
    await reader.follow();
    await reader.submit(found(reader, /action="(\/developer\/\w+\/test-mode\/keys\/\d+\/end)"/));
    return reader;
  },
  '/developer/:client_id/test-mode/points': inTestMode('/points', { points: '7' }),
  '/developer/:client_id/test-mode/empty': inTestMode('/empty'),
  '/developer': async () => {
    const { reader } = await member();
    await reader.get('/developer');
    await reader.submit('/developer', APPLICATION);
    return reader;
  },
  '/developer/:client_id': ofApplication('', { ...APPLICATION, name: 'Another name' }),
  '/developer/:client_id/secrets': ofApplication('/secrets', { overlap_seconds: '3600' }),
  '/developer/:client_id/secrets/:id/end': async () => {
    const { reader } = await ownApplication();
    await reader.submit(found(reader, /action="(\/developer\/\w+\/secrets\/\d+\/end)"/));
    return reader;
  },
  '/developer/:client_id/delete': ofApplication('/delete'),
  '/keys': async () => {
    const { reader } = await member();
    await reader.get('/keys');
    await reader.submit('/keys', { name: 'Mine', scopes: 'meta', current_password: PASSWORD });
    return reader;
  },
  '/keys/:id/end': async () => {
    const { id, reader } = await member();
    await people.keys.create(id, { name: 'Mine', scopes: ['meta'] });
    await reader.get('/keys');
    await reader.submit(found(reader, /action="(\/keys\/\d+\/end)"/));
    return reader;
  },
  '/authorized/:client_id/revoke': async () => {
    const { id, reader } = await member();
    const app = await people.register((await people.user()).id);
    await people.tokens(app, id);
    await reader.get('/authorized');
    await reader.submit(`/authorized/${app.clientId}/revoke`);
    return reader;
  },
  '/notices/read': withNotice((reader) => reader.submit('/notices/read')),
  '/notices/:id/read': withNotice((reader) => reader.submit(found(reader, /action="(\/notices\/\d+\/read)"/))),
  '/shares': async () => {
    const { reader } = await member();
    await reader.get('/shares');
    const url = `https://115.com/s/${randomBytes(6).toString('hex')}?password=a1b2`;
    await reader.submit('/shares', { media_type: 'movie', tmdb_id: '550', title: 'Film', unlock_points: '5', url });
    return reader;
  },
  '/shares/:slug/delete': async () => {
    const { reader, slug } = await ownShare();
    await reader.submit(`/shares/${slug}/delete`);
    return reader;
  },
  '/admin/applications/:client_id': async () => {
    const { clientId } = await ownApplication();
    const reader = await admin();
    await reader.get(`/admin/applications/${clientId}`);
    const review = { status: 'approved', auth_level: 'verified', scopes: 'meta', quota_profile: '' };
    await reader.submit(`/admin/applications/${clientId}`, review);
    return reader;
  },
  '/admin/applications/:client_id/decide': async () => {
    const { clientId } = await ownApplication();
    const reader = await admin();
    await reader.get(`/admin/applications/${clientId}`);
    await reader.submit(`/admin/applications/${clientId}/decide`, {}, { containing: 'value="approve"' });
    return reader;
  },
  '/admin/operations': async () => {
    const reader = await admin();
    await reader.get('/admin/operations');
    const off = { operation: 'GET /api/open/ping', reason: 'A test' };
    await reader.submit('/admin/operations', off, { containing: 'Disable' });
    return reader;
  },
  '/admin/quotas': async () => {
    const reader = await admin();
    await reader.get('/admin/quotas');
    const limits = { name: 'busy', app_per_minute: '6000', group_per_minute: 'unlock 10', endpoint_per_day: '' };
    await reader.submit('/admin/quotas', limits);
    return reader;
  },
  '/admin/quotas/:name/delete': async () => {
    const reader = await admin();
    await reader.get('/admin/quotas');
    await reader.submit('/admin/quotas', { name: 'short-lived', user_per_day: '5' });
    await reader.follow();
    await reader.submit('/admin/quotas/short-lived/delete');
    return reader;
  },
  '/points/check-in': async () => {
    const { reader } = await member();
    await reader.get('/points');
    await reader.submit('/points/check-in', {}, { containing: '>Check in<' });
    return reader;
  },
  '/shares/:slug/unlock': async () => {
    const { slug } = await ownShare();
    const { id, reader } = await member();
    await people.sql.query("SELECT ledger_transfer('grant', $1, NULL, $2, 'grants', 5)", [newName(), id]);
    await reader.get(`/shares/${slug}`);
    // The look is a row, too; it is written later.
    await Promise.all([site.app.get(ShareLooks).flush(), site.app.get(ShareCounters).flush()]);
    await reader.submit(`/shares/${slug}/unlock`);
    return reader;
  },
  '/admin/risk/settings': async () => {
    const reader = await admin();
    await reader.get('/admin/risk');
    await reader.submit('/admin/risk/settings', { ...inputsOf(reader.page), hits: '4' });
    return reader;
  },
  '/admin/risk/:user_id/reset': async () => {
    const { id } = await people.user(newName());
    await people.sql.query('INSERT INTO risk_states (user_id, tier) VALUES ($1, 2)', [id]);
    const reader = await admin();
    await reader.get('/admin/risk');
    await reader.submit(`/admin/risk/${id}/reset`);
    return reader;
  },
  '/admin/shares/:slug/official': asAdminOfShare('official'),
  '/admin/shares/:slug/delete': asAdminOfShare('delete'),
  '/admin/users/:id': asAdminOfUser('', { premium: 'forever', role: 'member' }),
  '/admin/users/:id/disabled': asAdminOfUser('/disabled'),
  '/admin/users/:id/points': asAdminOfUser('/points', { points: '40', note: '' }),
};

/** What the numbers of a page hold. */
function inputsOf(page: string): Record<string, string> {
  const inputs = [...page.matchAll(/name="(\w+)" type="number" value="(\d+)"/g)];
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]));
}

/** Written a while after the request that they record. */
const LATE = new Set(['audit_logs', 'unchained_events', 'webhook_attempts']);

/** How many rows every table holds. */
async function rowCounts(): Promise<Record<string, number>> {
  const tables = (await people.sql.query(
    `SELECT c.relname AS name FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace`,
  )) as { name: string }[];
  const counted = tables.filter(({ name }) => !LATE.has(name));
  const counts = counted.map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS count FROM "${name}"`);
  const rows = (await people.sql.query(counts.join(' UNION ALL '))) as { name: string; count: number }[];
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

describe('every form of the site', () => {
  it('is tested below', () => {
    const { stack } = (site.app.getHttpAdapter().getInstance() as unknown as { router: { stack: Layer[] } }).router;
    const posts = stack.flatMap(({ route }) => (route?.methods['post'] === true ? [String(route.path)] : []));
    const forms = posts.filter((path) => !/^\/(?:api|oauth2\/(?!authorize))/.test(path));
    expect(Object.keys(FORMS).sort()).toEqual([...new Set(forms)].sort());
  });

  it.each(Object.keys(FORMS))('%s redirects to another page, which can be reloaded without an effect', async (name) => {
    const reader = await FORMS[name]!();
    expect([reader.last?.status, reader.text]).toEqual([303, expect.any(String)]);
    const { location } = reader;
    expect(location).not.toMatch(/h[kp]_|whsec/);
    if (location.startsWith(CALLBACK)) return;
    expect((await reader.follow()).status).toBeLessThan(400);
    const before = await rowCounts();
    expect((await reader.get(location)).status).toBeLessThan(400);
    expect(await rowCounts()).toEqual(before);
  });
});

describe('a secret from a form', () => {
  const made = async (): Promise<{ reader: PageReader; location: string }> => {
    const { reader } = await member();
    await reader.get('/developer');
    await reader.submit('/developer', APPLICATION);
    return { reader, location: reader.location };
  };

  it('is shown once, to the session that created it, by any replica', async () => {
    const replica = await site.replica();
    try {
      const { reader, location } = await made();
      const path = new URL(location, site.url).pathname;
      const other = await member();
      expect((await other.reader.get(location)).status).toBe(404);
      // Neither a HEAD nor what a browser fetches ahead of time is a person who looks.
      await request(site.url).head(path).set('Cookie', reader.cookie);
      await request(site.url).get(path).set('Cookie', reader.cookie).set('Sec-Purpose', 'prefetch');
      const shown = await request(replica.url).get(location).set('Cookie', reader.cookie);
      const secret = /<code>(hk_\w+)<\/code>/.exec(shown.text)?.[1] ?? '';
      expect((await people.probe('meta', secret)).status).toBe(200);
      expect(shown.headers['cache-control']).toBe('no-store');
      await reader.get(location);
      expect(reader.page).not.toContain(secret);
      expect(reader.text).toContain('The application was registered.');
    } finally {
      await replica.close();
    }
  });

  it('cannot be read in the database, and is deleted with the session', async () => {
    const { reader } = await made();
    const [row] = (await people.sql.query('SELECT * FROM one_time_texts ORDER BY expires_at DESC LIMIT 1')) as [
      { sealed: string; page: string },
    ];
    expect(JSON.stringify(row)).not.toMatch(/hk_/);
    const left = async (): Promise<unknown[]> =>
      (await people.sql.query('SELECT FROM one_time_texts WHERE page = $1', [row.page])) as unknown[];
    expect(await left()).toHaveLength(1);
    await reader.get('/');
    await reader.submit('/logout');
    expect(await left()).toHaveLength(0);
  });

  it('is not shown after it has expired', async () => {
    const { reader } = await made();
    await people.sql.query("UPDATE one_time_texts SET expires_at = now() - interval '1 second'");
    await reader.follow();
    expect(reader.last?.status).toBe(200);
    expect(reader.page).not.toContain('class="secret"');
  });
});
