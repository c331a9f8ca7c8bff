import { randomBytes } from 'node:crypto';
import { createSecretBox, resealDatabase, SECRET_BOX, type SecretBox } from '@gatehouse/persistence';
import { decodeProtectedHeader } from 'jose';
import request from 'supertest';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { IdentityKeys } from '../src/identity/identity-keys.js';
import { identityKeyColumn, storeIdentityKey } from '../src/identity/new-identity-key.js';
import { startOpenSite } from './support/open-site.js';
import { ThirdParty, type RegisteredApp } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

let site: Awaited<ReturnType<typeof startOpenSite>>;
let people: ThirdParty;
let app: RegisteredApp;
let user: { id: number };

beforeAll(async () => {
  site = await startOpenSite({ API_RATE_LIMIT: '0' });
  people = new ThirdParty(site);
  user = await people.user();
  app = await people.register(user.id);
});
afterAll(() => site.close());
beforeEach(async () => {
  await people.sql.query('DELETE FROM identity_keys');
});

/** A replica that has not read any key yet. */
const fresh = async (work: (replica: SiteApp) => Promise<void>): Promise<void> => {
  const replica = await site.replica();
  try {
    await work(replica);
  } finally {
    await replica.close();
  }
};

const published = async ({ url }: SiteApp): Promise<string[]> => {
  const { body } = await request(url).get('/oauth2/jwks').expect(200);
  return (body as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
};

/** Name of the key that signs there. */
const signing = async ({ url }: SiteApp): Promise<string | undefined> => {
  const code = await people.code(app, user.id, { scope: 'openid' });
  const grant = { grant_type: 'authorization_code', code, redirect_uri: 'https://client.example/callback' };
  const { body } = await people.token(app, grant, url).expect(200);
  return decodeProtectedHeader((body as { id_token: string }).id_token).kid;
};

const box = (): SecretBox => site.app.get<SecretBox>(SECRET_BOX);
const past = (kid: string | undefined, interval: string): Promise<unknown> =>
  people.sql.query('UPDATE identity_keys SET signs_from = signs_from - $2::interval WHERE kid = $1', [kid, interval]);

it('replicas that start together sign with one key, which the database cannot read', async () => {
  await fresh(async (one) =>
    fresh(async (two) => {
      const [first, second] = await Promise.all([published(one), published(two)]);
      expect(first).toHaveLength(1);
      expect(second).toEqual(first);
      expect([await signing(one), await signing(two)]).toEqual([first[0], first[0]]);
    }),
  );
  const rows = JSON.stringify(await people.sql.query('SELECT to_jsonb(k) AS row FROM identity_keys k'));
  expect(rows).toContain('"sealed_key":"v2.');
  expect(rows).not.toMatch(/PRIVATE KEY|"d":|"p":|"q":/);
});

it('a new key is published before it signs, and the old one until nothing that it signed is valid', async () => {
  await storeIdentityKey(people.sql, box());
  let old: string | undefined;
  await fresh(async (replica) => {
    [old] = await published(replica);
  });
  await past(old, '91 days');
  const keys = site.app.get(IdentityKeys);
  await Promise.all([keys.tidy(), keys.tidy()]);
  let next: string | undefined;
  await fresh(async (replica) => {
    const names = await published(replica);
    expect(names).toHaveLength(2);
    expect(names[1]).toBe(old);
    [next] = names;
    expect(await signing(replica)).toBe(old);
  });
  // It waits already: no other one is made.
  await storeIdentityKey(people.sql, box());
  await past(next, '11 minutes');
  await fresh(async (replica) => {
    expect(await published(replica)).toEqual([next, old]);
    expect(await signing(replica)).toBe(next);
  });
  // An id_token that the old key signed at its last moment is valid for an hour.
  await past(next, '58 minutes');
  await keys.tidy();
  await fresh(async (replica) => expect(await published(replica)).toEqual([next, old]));
  await past(next, '1 hour');
  await keys.tidy();
  await fresh(async (replica) => expect(await published(replica)).toEqual([next]));
  expect(await people.sql.query('SELECT kid FROM identity_keys')).toEqual([{ kid: next }]);
});

it('keys are sealed again with a new secret key', async () => {
  await storeIdentityKey(people.sql, box());
  const [before] = (await people.sql.query('SELECT kid, sealed_key FROM identity_keys')) as [
    { kid: string; sealed_key: string },
  ];
  const text = box().open(before.sealed_key, `identity_keys:${before.kid}`);
  const [newer, older] = [randomBytes(32), randomBytes(32)];
  await people.sql.query('UPDATE identity_keys SET sealed_key = $1', [
    createSecretBox(older).seal(text, `identity_keys:${before.kid}`),
  ]);
  const both = createSecretBox([newer, older]);
  await resealDatabase(site.databaseUrl, [identityKeyColumn('resource_sharing', both)]);
  const [after] = (await people.sql.query('SELECT sealed_key FROM identity_keys')) as [{ sealed_key: string }];
  expect(createSecretBox(newer).open(after.sealed_key, `identity_keys:${before.kid}`)).toBe(text);
  // Bound to its row: a text that was moved opens nothing.
  expect(() => createSecretBox(newer).open(after.sealed_key, 'identity_keys:other')).toThrow();
});
