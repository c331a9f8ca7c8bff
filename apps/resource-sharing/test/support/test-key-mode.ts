import { withLayer } from '@gatehouse/persistence';
import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { OPEN_SCOPES, type OpenScope } from '../../src/credentials/caller.js';
import { SecretHasher } from '../../src/credentials/secret-hasher.js';
import { TEST_LIMITS } from '../../src/quota/quota-profiles.js';

/** The application through whose test key a suite runs. */
export interface TestApplication {
  readonly id: number;
  readonly key: string;
}

let active = false;
const applications = new WeakMap<object, TestApplication>();

/**
 * The suite that this file loads runs through test keys. `left`: tests of what there is only outside of test mode, with
 * the reason; one that the suite does not have is an error.
 */
export function throughTestKeys(left: Readonly<Record<string, string>>): void {
  let restore = (): void => undefined;
  const unseen = new Set(Object.keys(left));
  beforeAll(() => {
    active = true;
    restore = liftTestLimits();
  });
  afterAll(() => {
    active = false;
    restore();
    expect([...unseen]).toEqual([]);
  });
  beforeEach(({ task, skip }) => {
    const reason = left[task.name];
    if (reason === undefined) return;
    unseen.delete(task.name);
    skip(reason);
  });
}

/** For tests that call more often than test keys may. Before the first call: limits are kept for a while. */
export function liftTestLimits(): () => void {
  const usual = { ...TEST_LIMITS };
  Object.assign(TEST_LIMITS, { appPerMinute: null, appBurstPerSecond: null, appPerDay: null });
  return () => void Object.assign(TEST_LIMITS, usual);
}

/** The application of a site that `enterTestMode` returned. */
export function testApplicationOf(site: { readonly app: object }): TestApplication | undefined {
  return applications.get(site.app);
}

/** The site as it is, or, for a suite through test keys, with services that work in test mode of one application. */
export async function inKeyMode<Site extends { readonly app: INestApplication }>(site: Site): Promise<Site> {
  if (!active) return site;
  const sql = site.app.get(DataSource);
  await sql.query(ACCOUNTS);
  const [owner] = await sql.query<{ id: number }[]>(
    `INSERT INTO site_accounts (username, nickname, password_hash) VALUES ('developer', 'Developer', 'none') RETURNING id`,
  );
  const [made] = await sql.query<{ id: number }[]>(
    `INSERT INTO applications (client_id, name, owner_id, kind, auth_level, status, allowed_scopes)
     VALUES ('tried', 'Tried', $1, 'confidential', 'verified', 'approved', $2) RETURNING id`,
    [owner?.id, OPEN_SCOPES],
  );
  const id = made?.id ?? 0;
  const { text: key, hash, prefix, lastFour } = site.app.get(SecretHasher).create('test');
  await sql.query(
    `INSERT INTO credentials (kind, application_id, name, secret_hash, prefix, last_four)
     VALUES ('test', $1, 'test', $2, $3, $4)`,
    [id, hash, prefix, lastFour],
  );
  const app = working(
    site.app,
    (get) => (token: never) => working(get(token) as object, (method) => inLayer(id, method)),
  );
  applications.set(app, { id, key });
  return { ...site, app };
}

/** A token of the user behind a test account. */
export async function tokenFor(
  site: { readonly app: INestApplication },
  account: number,
  scopes: readonly OpenScope[],
): Promise<string> {
  const { text, hash } = site.app.get(SecretHasher).create('access');
  const { id } = testApplicationOf(site) as TestApplication;
  await site.app.get(DataSource).query(
    `WITH granted AS (
       INSERT INTO grants (user_id, application_id, scopes)
       SELECT user_id, $2, $3 FROM test_accounts WHERE id = $1 RETURNING id
     )
     INSERT INTO access_tokens (hash, grant_id, scopes, expires_at)
     SELECT $4, id, $3, now() + interval '1 day' FROM granted`,
    [account, id, scopes, hash],
  );
  return text;
}

type Method = (...parts: never[]) => unknown;

const inLayer =
  (id: number, method: Method): Method =>
  (...parts) =>
    withLayer(String(id), () => method(...parts));

/** The object with other methods. */
function working<T extends object>(target: T, around: (method: Method) => Method): T {
  return new Proxy(target, {
    get: (object, name) => {
      const value = Reflect.get(object, name) as unknown;
      return typeof value === 'function' ? around(value.bind(object) as Method) : value;
    },
  });
}

/** Suites make and change accounts: here these are real ones with a test account, which begins without points. */
const ACCOUNTS = `
  DO $do$ BEGIN EXECUTE 'CREATE OR REPLACE VIEW resource_sharing_test.site_accounts AS '
    || replace(pg_get_viewdef('resource_sharing_test.site_accounts'::regclass), ' FROM ', ', ''none''::text AS password_hash FROM ');
  END $do$;
  CREATE FUNCTION resource_sharing_test.make_account(made resource_sharing_test.site_accounts) RETURNS bigint
  LANGUAGE plpgsql SET search_path = resource_sharing AS $$
  DECLARE
    account bigint;
  BEGIN
    INSERT INTO site_accounts (username, nickname, password_hash, permissions, premium_until)
      VALUES (made.username, made.nickname, 'none', coalesce(made.permissions, '{}'), made.premium_until)
      RETURNING id INTO account;
    SET CONSTRAINTS ALL IMMEDIATE;
    SET CONSTRAINTS ALL DEFERRED;
    RETURN account;
  END $$;
  CREATE FUNCTION resource_sharing_test.write_account() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN
      INSERT INTO test_accounts (application_id, user_id)
        VALUES (test_application(), resource_sharing_test.make_account(NEW)) RETURNING id INTO NEW.id;
      INSERT INTO ledger_accounts (user_id) VALUES (NEW.id);
    ELSE
      UPDATE resource_sharing.site_accounts a SET email = NEW.email, nickname = NEW.nickname, avatar_url = NEW.avatar_url,
        permissions = NEW.permissions, premium_until = NEW.premium_until, disabled_at = NEW.disabled_at
        FROM test_accounts t WHERE t.id = OLD.id AND a.id = t.user_id;
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER written INSTEAD OF INSERT OR UPDATE ON resource_sharing_test.site_accounts
    FOR EACH ROW EXECUTE FUNCTION resource_sharing_test.write_account();`;
