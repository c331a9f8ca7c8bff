import { SecretHasher } from '../src/credentials/secret-hasher.js';
import { OPEN_SCOPES, type OpenScope } from '../src/credentials/caller.js';
import request from 'supertest';
import { DataSource } from 'typeorm';
import type { SiteApp } from './site-app.js';
import { testApplicationOf, tokenFor } from './support/test-key-mode.js';

/** A user of the site with a personal key, or with a test key and a token. */
export interface ShareCaller {
  readonly id: number;
  readonly key: string;
  get(path: string): request.Test;
  post(path: string, body?: object): request.Test;
  patch(path: string, body: object): request.Test;
  delete(path: string): request.Test;
}

interface CallerOptions {
  readonly scopes?: readonly OpenScope[];
  readonly permissions?: readonly string[];
}

let made = 0;

export async function createCaller(
  site: SiteApp,
  { scopes = OPEN_SCOPES, permissions = [] }: CallerOptions = {},
): Promise<ShareCaller> {
  const name = `sharer${++made}`;
  const [account] = (await site.app.get(DataSource).query(
    `INSERT INTO site_accounts (username, nickname, password_hash, permissions)
     VALUES ($1, $2, 'none', $3) RETURNING id`,
    [name, `Nick ${name}`, permissions],
  )) as { id: number }[];
  const id = account?.id ?? 0;
  const tried = testApplicationOf(site);
  if (tried !== undefined) return callerWith(site, id, tried.key, await tokenFor(site, id, scopes));
  const secret = site.app.get(SecretHasher).create('personal');
  await site.app.get(DataSource).query(
    `INSERT INTO credentials (kind, user_id, name, secret_hash, prefix, last_four, scopes)
     VALUES ('personal', $1, 'test', $2, $3, $4, $5)`,
    [id, secret.hash, secret.prefix, secret.lastFour, scopes],
  );
  return callerWith(site, id, secret.text);
}

/** An application of that user, without a user to act for. */
export async function createApplication(site: SiteApp, owner: ShareCaller): Promise<ShareCaller> {
  const tried = testApplicationOf(site);
  if (tried !== undefined) return callerWith(site, 0, tried.key);
  const [application] = (await site.app.get(DataSource).query(
    `INSERT INTO applications (client_id, name, owner_id, kind, auth_level, status, allowed_scopes)
     VALUES ($1, 'test', $2, 'confidential', 'verified', 'approved', $3) RETURNING id`,
    [`client${++made}`, owner.id, OPEN_SCOPES],
  )) as { id: number }[];
  const secret = site.app.get(SecretHasher).create('application');
  await site.app.get(DataSource).query(
    `INSERT INTO credentials (kind, application_id, name, secret_hash, prefix, last_four)
     VALUES ('application', $1, 'test', $2, $3, $4)`,
    [application?.id, secret.hash, secret.prefix, secret.lastFour],
  );
  return callerWith(site, 0, secret.text);
}

function callerWith(site: SiteApp, id: number, key: string, token?: string): ShareCaller {
  const sent = (test: request.Test): request.Test => {
    const keyed = test.set('X-API-Key', key);
    return token === undefined ? keyed : keyed.set('Authorization', `Bearer ${token}`);
  };
  const at = (path: string): string => `/api/open${path}`;
  return {
    id,
    key,
    get: (path) => sent(request(site.url).get(at(path))),
    post: (path, body) => sent(request(site.url).post(at(path))).send(body),
    patch: (path, body) => sent(request(site.url).patch(at(path))).send(body),
    delete: (path) => sent(request(site.url).delete(at(path))),
  };
}

let links = 0;

/** A body of a share of a link that nobody shares yet. */
export function newShare(changes: object = {}): Record<string, unknown> {
  links += 1;
  return { url: `https://115.com/s/sw${links}x?password=a1b2`, tmdb_id: '603', media_type: 'movie', ...changes };
}
