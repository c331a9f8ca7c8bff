import { hash, randomBytes } from 'node:crypto';
import type { SecretBox, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import type { EntityManager } from 'typeorm';
import { base32 } from '../totp/base32.js';
import { createTotpSecret, matchingTotpStep } from '../totp/totp.js';

/** `missing`: a second factor is set up, but no code was sent. */
export type FactorOutcome = 'accepted' | 'missing' | 'wrong';

/** What a service may want to record: it was turned on, its recovery codes were replaced, or one of them was used. */
export type FactorChange = 'enabled' | 'codes_replaced' | 'code_used';

/** What differs between services. */
export interface SecondFactorPolicy {
  /** Called in the transaction of a change. `codesLeft`: recovery codes that still work. */
  record?(tx: EntityManager, userId: number, change: FactorChange, codesLeft: number): Promise<void>;
}

export interface FactorState {
  /** `pending`: it is being set up, and logins do not ask for it yet. */
  readonly state: 'off' | 'pending' | 'on';
  readonly since: Date | null;
  /** Recovery codes that still work. */
  readonly codesLeft: number;
}

interface Row {
  sealed_secret: string;
  last_step: number;
  failures: number;
  age_s: number;
}

const RECOVERY_CODES = 10;
/** 80 bits: sixteen symbols. */
const RECOVERY_BYTES = 10;
/** Counts wrong codes after right passwords only, so that strangers cannot lock anybody out. */
const MOST_FAILURES = 10;
const FAILURE_SECONDS = 3_600;

const FIND = `SELECT sealed_secret, last_step, failures, extract(epoch FROM now() - failures_since)::float8 AS age_s
  FROM user_totp WHERE user_id = $1 AND (confirmed_at IS NOT NULL) = $2 FOR UPDATE`;
const FAIL = `UPDATE user_totp SET
    failures = CASE WHEN failures_since < now() - make_interval(secs => $2) THEN 1 ELSE failures + 1 END,
    failures_since = CASE WHEN failures = 0 OR failures_since < now() - make_interval(secs => $2) THEN now()
      ELSE failures_since END
  WHERE user_id = $1`;
const CONFIRM = 'UPDATE user_totp SET confirmed_at = now(), last_step = $2, failures = 0 WHERE user_id = $1';
const BEGIN = `INSERT INTO user_totp AS kept (user_id, sealed_secret) VALUES ($1, $2)
  ON CONFLICT (user_id) DO UPDATE SET sealed_secret = EXCLUDED.sealed_secret, last_step = 0, failures = 0, created_at = now()
  WHERE kept.confirmed_at IS NULL RETURNING user_id`;
const COUNT_CODES = 'SELECT count(*)::int AS codes FROM recovery_codes WHERE user_id = $1';

/**
 * Codes of authenticators (RFC 6238) in addition to passwords, and recovery codes for users who lost theirs. Services extend
 * it with their policy; their tables are those of createSecondFactorTables().
 */
export abstract class SecondFactors {
  protected constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly box: SecretBox,
    private readonly policy: SecondFactorPolicy = {},
  ) {}

  /**
   * Called after the password was right. No code is accepted twice. @throws AppError LOCKED after too many wrong ones.
   */
  async check(userId: number, code: string | undefined): Promise<FactorOutcome> {
    return this.unitOfWork.run(async (tx) => {
      const row = await find(tx, userId, true);
      if (row === undefined) return 'accepted';
      refuseLocked(row);
      if (code === undefined) return 'missing';
      if (await this.accept(tx, userId, row, code)) return 'accepted';
      await tx.query(FAIL, [userId, FAILURE_SECONDS]);
      return 'wrong';
    });
  }

  /** Those of these users who have a second factor. */
  async having(userIds: readonly number[]): Promise<Set<number>> {
    if (userIds.length === 0) return new Set();
    const rows = await this.unitOfWork.run<{ user_id: number }[]>((tx) =>
      tx.query('SELECT user_id FROM user_totp WHERE user_id = ANY ($1) AND confirmed_at IS NOT NULL', [userIds]),
    );
    return new Set(rows.map(({ user_id: id }) => id));
  }

  async stateOf(userId: number): Promise<FactorState> {
    return this.unitOfWork.run(async (tx) => {
      const sql = 'SELECT confirmed_at AS since FROM user_totp WHERE user_id = $1';
      const [row] = await tx.query<{ since: Date | null }[]>(sql, [userId]);
      if (row === undefined) return { state: 'off', since: null, codesLeft: 0 };
      const codesLeft = await countCodes(tx, userId);
      return { state: row.since === null ? 'pending' : 'on', since: row.since, codesLeft };
    });
  }

  /**
   * A new secret that counts once it was confirmed with a code; an unconfirmed one is replaced. @throws AppError
   * CONFLICT
   */
  async begin(userId: number): Promise<Buffer> {
    const secret = createTotpSecret();
    const sealed = this.box.seal(secret.toString('base64'), secondFactorPlace(userId));
    const [row] = await this.unitOfWork.run<unknown[]>((tx) => tx.query(BEGIN, [userId, sealed]));
    if (row === undefined) throw new AppError('CONFLICT', 'A second factor is already set up; turn it off first');
    return secret;
  }

  /**
   * Logins need a code from now on. Resolves to recovery codes; undefined for a wrong code. @throws AppError CONFLICT,
   * LOCKED after too many wrong ones until the setup is restarted
   */
  async confirm(userId: number, code: string): Promise<string[] | undefined> {
    return this.unitOfWork.run(async (tx) => {
      const row = await find(tx, userId, false);
      if (row === undefined) throw new AppError('CONFLICT', 'No second factor is being set up');
      refuseLocked(row);
      const step = matchingTotpStep(this.secretOf(userId, row), code.replaceAll(' ', ''), Date.now());
      if (step === undefined) {
        await tx.query(FAIL, [userId, FAILURE_SECONDS]);
        return undefined;
      }
      await tx.query(CONFIRM, [userId, step]);
      await this.policy.record?.(tx, userId, 'enabled', RECOVERY_CODES);
      return replaceRecoveryCodes(tx, userId);
    });
  }

  /** Replaces all recovery codes. @throws AppError CONFLICT without a second factor. */
  async renewRecoveryCodes(userId: number): Promise<string[]> {
    return this.unitOfWork.run(async (tx) => {
      if ((await find(tx, userId, true)) === undefined) throw new AppError('CONFLICT', 'No second factor is set up');
      await this.policy.record?.(tx, userId, 'codes_replaced', RECOVERY_CODES);
      return replaceRecoveryCodes(tx, userId);
    });
  }

  /** Removes it with its recovery codes. False if logins did not ask for it. */
  async remove(userId: number, tx: EntityManager): Promise<boolean> {
    const sql = 'DELETE FROM user_totp WHERE user_id = $1 RETURNING confirmed_at AS since';
    const [removed] = await tx.query<[{ since: Date | null }[], number]>(sql, [userId]);
    return removed.some(({ since }) => since !== null);
  }

  private async accept(tx: EntityManager, userId: number, row: Row, code: string): Promise<boolean> {
    const step = matchingTotpStep(this.secretOf(userId, row), code.replaceAll(' ', ''), Date.now());
    if (step !== undefined && step > row.last_step) {
      await tx.query('UPDATE user_totp SET last_step = $2, failures = 0 WHERE user_id = $1', [userId, step]);
      return true;
    }
    const removal = 'DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2 RETURNING user_id';
    const [used] = await tx.query<[unknown[], number]>(removal, [userId, hashOf(code)]);
    if (used.length === 0) return false;
    await tx.query('UPDATE user_totp SET failures = 0 WHERE user_id = $1', [userId]);
    if (this.policy.record !== undefined) {
      await this.policy.record(tx, userId, 'code_used', await countCodes(tx, userId));
    }
    return true;
  }

  private secretOf(userId: number, { sealed_secret: sealed }: Row): Buffer {
    return Buffer.from(this.box.open(sealed, secondFactorPlace(userId)), 'base64');
  }
}

/** A secret cannot be opened in another user's row. */
export function secondFactorPlace(userId: number): string {
  return `user_totp:${userId}`;
}

async function find(tx: EntityManager, userId: number, confirmed: boolean): Promise<Row | undefined> {
  const [row] = await tx.query<Row[]>(FIND, [userId, confirmed]);
  return row;
}

async function countCodes(tx: EntityManager, userId: number): Promise<number> {
  const [row] = await tx.query<{ codes: number }[]>(COUNT_CODES, [userId]);
  return row?.codes ?? 0;
}

function refuseLocked({ failures, age_s: age }: Row): void {
  if (failures < MOST_FAILURES || age >= FAILURE_SECONDS) return;
  throw new AppError('LOCKED', 'Too many wrong codes: the account is locked for a while', {
    retryAfterSeconds: FAILURE_SECONDS - age,
    level: 'warn',
  });
}

async function replaceRecoveryCodes(tx: EntityManager, userId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => spaced(base32(randomBytes(RECOVERY_BYTES))));
  await tx.query('DELETE FROM recovery_codes WHERE user_id = $1', [userId]);
  await tx.query('INSERT INTO recovery_codes (user_id, code_hash) SELECT $1, unnest($2::bytea[])', [
    userId,
    codes.map(hashOf),
  ]);
  return codes;
}

/** Groups of four, for readability. */
function spaced(symbols: string): string {
  return symbols.toLowerCase().replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** Accepts the spellings that people type. */
function hashOf(code: string): Buffer {
  return hash('sha256', code.toLowerCase().replaceAll(/[^a-z2-7]/g, ''), 'buffer');
}
