import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError, PostgresWindowCounter } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { rowsOf } from '../data/rows-of.js';
import type { AccountExportView } from './account-export.view.js';
import { toSiteAccountView } from './site-account.view.js';
import { SiteAccounts } from './site-accounts.service.js';

const HOUR_MS = 3_600_000;
const EXPORTS_PER_HOUR = 5;
/** Of each list: many times what a person does in years. */
const MAX_ROWS = 20_000;

type Rows = Record<string, unknown>[];
type ListName = Exclude<keyof AccountExportView, 'exported_at' | 'account' | 'cut'>;

/** The newest rows of each list. Never hashes of secrets; links only of own shares and of unlocked ones. */
const LISTS: Readonly<Record<ListName, string>> = {
  sessions: 'SELECT id, created_at, expires_at, ip, user_agent FROM sessions WHERE user_id = $1 ORDER BY id DESC',
  sign_in_networks: `SELECT network, last_used_at FROM sign_in_networks WHERE user_id = $1 ORDER BY last_used_at DESC`,
  events: `SELECT id, type, created_at, ip, details FROM audit_events WHERE user_id = $1 ORDER BY id DESC`,
  second_factor: 'SELECT created_at, confirmed_at FROM user_totp WHERE user_id = $1 ORDER BY created_at DESC',
  keys: `SELECT id, name, prefix, last_four, scopes, ip_allow, created_at, expires_at, last_used_at, last_used_ip, revoked_at
    FROM credentials WHERE user_id = $1 ORDER BY id DESC`,
  applications: `SELECT a.client_id, a.name, a.description, a.kind, a.status, a.auth_level, a.allowed_scopes, a.created_at,
      ARRAY(SELECT uri FROM application_redirect_uris u WHERE u.application_id = a.id ORDER BY uri) AS redirect_uris
    FROM applications a WHERE a.owner_id = $1 ORDER BY a.id DESC`,
  webhooks: `SELECT w.id, a.client_id, w.name, w.url, w.event_types, w.test_events, w.status = 1 AS enabled, w.created_at
    FROM webhooks w JOIN applications a ON a.id = w.application_id WHERE a.owner_id = $1 ORDER BY w.id DESC`,
  grants: `SELECT g.id, a.client_id, a.name AS application, g.scopes, g.created_at, g.revoked_at
    FROM grants g JOIN applications a ON a.id = g.application_id WHERE g.user_id = $1 ORDER BY g.id DESC`,
  shares: `SELECT replace(slug::text, '-', '') AS slug, title, url, access_code, remark, unlock_points, is_anonymous,
      created_at, deleted_at
    FROM shares WHERE owner_id = $1 ORDER BY id DESC`,
  unlocks: `SELECT replace(s.slug::text, '-', '') AS slug, s.title, s.url, s.access_code, u.via, u.points, u.created_at
    FROM unlocks u JOIN shares s ON s.id = u.share_id WHERE u.user_id = $1 ORDER BY u.created_at DESC`,
  points: `SELECT t.kind, e.amount, e.balance_after, t.note, t.created_at
    FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
    WHERE e.user_id = $1 ORDER BY e.account_version DESC`,
  subscriptions: `SELECT t.media_type, t.tmdb_id, t.title, s.created_at
    FROM title_subscriptions s JOIN titles t ON t.id = s.title_id WHERE s.user_id = $1 ORDER BY s.id DESC`,
  messages: `SELECT m.event_type, replace(s.slug::text, '-', '') AS slug, m.created_at, m.read_at
    FROM messages m JOIN shares s ON s.id = m.share_id WHERE m.user_id = $1 ORDER BY m.id DESC`,
  check_ins: 'SELECT day::text, mode, points, streak, created_at FROM check_ins WHERE user_id = $1 ORDER BY day DESC',
};

/** Everything that the service has about one user, for this user. */
@Injectable()
export class AccountExport {
  private readonly counter: PostgresWindowCounter;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: SiteAccounts,
    dataSource: DataSource,
  ) {
    this.counter = new PostgresWindowCounter(pgPool(dataSource));
  }

  /** @throws RATE_LIMITED, UNAUTHORIZED if the account is gone */
  async of(userId: number, ip: string | undefined): Promise<AccountExportView> {
    const account = await this.accounts.require(userId);
    await this.count(userId);
    const lists: [string, Rows][] = [];
    const cut: string[] = [];
    await this.unitOfWork.run(async (tx) => {
      await recordEvent(tx, { type: 'user.data_exported', userId, ip });
      for (const [name, sql] of Object.entries(LISTS)) {
        const rows = await rowsOf<Record<string, unknown>>(tx, `${sql} LIMIT ${MAX_ROWS + 1}`, [userId]);
        if (rows.length > MAX_ROWS) cut.push(name);
        lists.push([name, rows.slice(0, MAX_ROWS)]);
      }
    });
    const view = toSiteAccountView(account);
    const kept = Object.fromEntries(lists) as Record<ListName, Rows>;
    return Object.assign({ exported_at: new Date().toISOString(), account: view, cut }, kept);
  }

  private async count(userId: number): Promise<void> {
    const { hits, remainingMs } = await this.counter.hit(`export ${userId}`, HOUR_MS);
    if (hits <= EXPORTS_PER_HOUR) return;
    throw new AppError('RATE_LIMITED', 'The data of this account were exported too often', {
      retryAfterSeconds: remainingMs / 1_000,
      level: 'info',
      limit: 'exports',
    });
  }
}
