import { randomBytes } from 'node:crypto';
import { hashPassword, verifyPassword } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PointGrants } from '../points/point-grants.js';
import { SiteAccounts } from '../site/site-accounts.service.js';

/** Nobody can register names with this prefix, so an account with one was created here. */
export const DEVELOPER = 'demo-developer';
export const VIEWER = 'demo-viewer';
const VIEWER_POINTS = 1_000;

export interface DemoAccount {
  readonly id: number;
  readonly password: string;
}

/** The two users of the demo data. */
@Injectable()
export class DemoAccounts {
  constructor(
    private readonly dataSource: DataSource,
    private readonly accounts: SiteAccounts,
    private readonly grants: PointGrants,
  ) {}

  /** Whether both exist. */
  async exist(): Promise<boolean> {
    return (await this.accounts.idsOf([DEVELOPER, VIEWER])).size === 2;
  }

  /** Whether users other than administrators and these two use the service. */
  async othersExist(): Promise<boolean> {
    const rows = (await this.dataSource.query(
      `SELECT 1 FROM site_accounts WHERE role = 'member' AND username <> ALL ($1) AND disabled_at IS NULL LIMIT 1`,
      [[DEVELOPER, VIEWER]],
    )) as unknown[];
    return rows.length > 0;
  }

  /** The account with a name; keeps `password` if it is still valid, and sets a new one otherwise. */
  async ensure(username: string, password: string | undefined): Promise<DemoAccount> {
    const kept = password ?? randomBytes(15).toString('base64url');
    await this.accounts.create({ username, password: kept, role: 'member' });
    const [row] = (await this.dataSource.query(
      'SELECT id, password_hash, disabled_at IS NOT NULL AS disabled FROM site_accounts WHERE username = $1',
      [username],
    )) as { id: number; password_hash: string; disabled: boolean }[];
    if (row === undefined) throw new Error(`the account ${username} was neither found nor made`);
    if (row.disabled || !(await verifyPassword(kept, row.password_hash))) await this.renew(row.id, kept);
    return { id: row.id, password: kept };
  }

  /** Premium for a year and points to spend; given once. */
  async favour(userId: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE site_accounts SET premium_until = now() + interval '1 year'
       WHERE id = $1 AND (premium_until IS NULL OR premium_until < now())`,
      [userId],
    );
    const ref = `demo:${userId}`;
    await this.grants.grant({ userId, points: VIEWER_POINTS, ref, actorId: userId, note: 'demonstration' });
  }

  private async renew(id: number, password: string): Promise<void> {
    await this.dataSource.query('UPDATE site_accounts SET password_hash = $2, disabled_at = NULL WHERE id = $1', [
      id,
      await hashPassword(password),
    ]);
  }
}
