import { SecretHasher } from '../src/credentials/secret-hasher.js';
import { OPEN_SCOPES, type OpenScope } from '../src/open-api/caller.js';
import request from 'supertest';
import { DataSource } from 'typeorm';
import type { SiteApp } from './site-app.js';

/** A user of the site with a personal key. */
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
  const secret = site.app.get(SecretHasher).create('personal');
  await site.app.get(DataSource).query(
    `INSERT INTO credentials (kind, user_id, name, secret_hash, prefix, last_four, scopes)
     VALUES ('personal', $1, 'test', $2, $3, $4, $5)`,
    [id, secret.hash, secret.prefix, secret.lastFour, scopes],
  );
  const sent = (test: request.Test): request.Test => test.set('X-API-Key', secret.text);
  const at = (path: string): string => `/api/open${path}`;
  return {
    id,
    key: secret.text,
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
