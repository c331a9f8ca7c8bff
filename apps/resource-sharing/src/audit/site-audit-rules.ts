import {
  AuditRules,
  LOGIN_ACTION,
  makeTarget,
  readRow,
  restTarget,
  withoutColumns,
  type AuditActor,
  type AuditTarget,
  type Fields,
  type TableOfResource,
} from '@gatehouse/audit';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { visitorOf } from '../wire/visitor.js';

const API = '/api/site/admin/';
const PAGES = '/admin/';
const LOGINS = new Set(['/api/site/login', '/login', '/login/code']);
const LOGOUTS = new Set(['/api/site/logout', '/logout']);
const NAMES = {
  resources: new Map([
    ['users', 'user'],
    ['applications', 'application'],
    ['shares', 'share'],
    ['quota-profiles', 'quota_profile'],
    ['quotas', 'quota_profile'],
    ['risk', 'risk'],
    ['endpoints', 'endpoint'],
    ['operations', 'endpoint'],
  ]),
  withoutMembers: new Set(['endpoints', 'operations']),
  memberId: /./,
};
const TABLES: Readonly<Record<string, TableOfResource>> = {
  user: { table: 'site_accounts', key: 'id' },
  application: { table: 'applications', key: 'client_id' },
  share: { table: 'shares', key: 'slug' },
  quota_profile: { table: 'quota_profiles', key: 'name' },
  risk: { table: 'risk_states', key: 'user_id', numeric: true },
};
/**
 * Fields that are internal, and those with the value of a share: its link and access code are only for users who
 * unlocked it.
 */
const OWN_COLUMNS = /^(id|created_at|updated_at|link_key|url|access_code|search|.*_count)$/;
const SLUG = /^[0-9a-f-]{32,36}$/i;

/**
 * What the audit log has to know about the calls of this service: logins and administration, by the API and by pages.
 */
@Injectable()
export class SiteAuditRules extends AuditRules {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  target(method: string, path: string): AuditTarget | null {
    if (LOGINS.has(path)) return { action: LOGIN_ACTION, resourceType: 'auth', resourceId: null };
    if (LOGOUTS.has(path)) return { action: 'auth.logout', resourceType: 'auth', resourceId: null };
    if (path.startsWith(API)) return restTarget(method, path.slice(API.length), NAMES);
    return path.startsWith(PAGES) ? formTarget(path.slice(PAGES.length)) : null;
  }

  async read({ resourceType, resourceId }: Omit<AuditTarget, 'action'>): Promise<Fields | null> {
    const place = TABLES[resourceType ?? ''];
    if (place === undefined || resourceId === null) return null;
    if (resourceType === 'share' && !SLUG.test(resourceId)) return null;
    const found = await readRow(this.dataSource, place, resourceId);
    return found && withoutColumns(found, OWN_COLUMNS);
  }

  override actor(request: object): AuditActor | null {
    const account = visitorOf(request)?.account;
    return account ? { type: 'session', id: account.id, name: account.username } : null;
  }

  loggedIn(action: string, answer: unknown, request: object): AuditActor | null {
    if (action !== LOGIN_ACTION) return null;
    const { id, username } = (answer as { data?: { id?: number; username?: string } } | undefined)?.data ?? {};
    // A page answers with a redirect; the typed name is right if the login succeeded. The page for the code says who it was.
    const { username: typed } = ((request as { body?: unknown }).body ?? {}) as { username?: unknown };
    const name = username ?? (typeof typed === 'string' ? typed : null);
    return name === null ? null : { type: 'session', id: id ?? null, name };
  }
}

/** Forms only use POST: `users/5` changes a user, `users/5/points` and `shares/…/delete` name the action. */
function formTarget(path: string): AuditTarget | null {
  const target = restTarget('PUT', path, NAMES);
  if (target.resourceType === null) return target;
  const verb = target.action.slice(target.resourceType.length + 1).replace(/(?<=.)_update$/, '');
  return makeTarget(target.resourceType, target.resourceId, verb);
}
