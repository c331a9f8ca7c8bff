import {
  allows,
  createApiKey,
  createUserCode,
  DEVICE_CODE_SECONDS,
  parseApiKey,
  parseUserCode,
  requireLogin,
  UserCodeTries,
  type Actor,
} from '@gatehouse/auth';
import type { DeviceCodesView, DeviceRequestView } from '@gatehouse/contracts';
import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError, networkOf, PostgresWindowCounter } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Credentials } from '../auth/credentials.js';
import { TunnelGatewaySettings } from '../settings.js';
import { Users } from '../users/users.service.js';
import { fieldError } from '../wire/field-error.js';
import type { DeviceDecisionBody } from './device-login.dto.js';
import { UserCodeHasher } from './user-code-hasher.js';

export const DEVICE_CODE_PREFIX = 'gtd_';
/** One indexed row is read by each question. */
export const POLL_SECONDS = 2;
/** How many logins machines of a network can begin in an hour: each one is a row for ten minutes. */
const BEGUN_OF_NETWORK = 60;
const HOUR_MS = 3_600_000;

const BEGIN = `
  INSERT INTO device_logins (hash, user_code_hash, machine, address, expires_at, interval_s)
  VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5), $6)`;
/** Neither decided nor expired. */
const WAITING = `
  SELECT machine, address, created_at, expires_at FROM device_logins
  WHERE user_code_hash = $1 AND expires_at > now() AND session_id IS NULL AND denied_at IS NULL`;

interface WaitingRow {
  readonly machine: string;
  readonly address: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** What machines ask for, and what their users decide (RFC 8628). */
@Injectable()
export class DeviceRequests {
  private readonly counter: PostgresWindowCounter;
  private readonly tries: UserCodeTries;
  private readonly page: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly hasher: UserCodeHasher,
    private readonly credentials: Credentials,
    private readonly users: Users,
    { publicUrl }: TunnelGatewaySettings,
  ) {
    this.counter = new PostgresWindowCounter(pgPool(dataSource));
    this.tries = new UserCodeTries(this.counter);
    // What is behind # never reaches a server, so that no log has the code.
    this.page = `${publicUrl.replace(/\/+$/, '')}/#/device`;
  }

  /** @throws AppError RATE_LIMITED */
  async begin(machine: string, address: string): Promise<DeviceCodesView> {
    const { hits, remainingMs } = await this.counter.hit(`device begun ${networkOf(address)}`, HOUR_MS);
    if (hits > BEGUN_OF_NETWORK) {
      throw new AppError('RATE_LIMITED', 'Too many logins of machines were begun', {
        retryAfterSeconds: remainingMs / 1_000,
        level: 'info',
        limit: 'device logins',
      });
    }
    const deviceCode = createApiKey(DEVICE_CODE_PREFIX);
    const userCode = createUserCode();
    const hash = parseApiKey(deviceCode, DEVICE_CODE_PREFIX)?.hash;
    const values = [hash, this.hasher.hash(userCode), machine, address, DEVICE_CODE_SECONDS, POLL_SECONDS];
    await this.dataSource.query(BEGIN, values);
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: this.page,
      verification_uri_complete: `${this.page}?user_code=${userCode}`,
      expires_in: DEVICE_CODE_SECONDS,
      interval: POLL_SECONDS,
    };
  }

  /** @throws AppError VALIDATION_FAILED for an unknown code, RATE_LIMITED after too many */
  async find(text: string, actor: Actor, address: string): Promise<DeviceRequestView> {
    await this.tries.count(requireLogin(actor), address);
    const userCode = parseUserCode(text);
    if (userCode === undefined) throw unknownCode();
    const row = await this.waiting(this.dataSource.manager, userCode, '');
    return {
      user_code: userCode,
      machine: row.machine,
      address: row.address,
      created_at: row.created_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
    };
  }

  /** @throws AppError as `find`; FORBIDDEN for a wrong password and for users who cannot publish */
  async decide(
    { user_code: text, approved, ...proof }: DeviceDecisionBody,
    actor: Actor,
    address: string,
  ): Promise<void> {
    await this.tries.count(requireLogin(actor), address);
    const userCode = parseUserCode(text);
    if (userCode === undefined) throw unknownCode();
    if (approved && !allows(actor, 'write')) throw new AppError('FORBIDDEN', 'This needs the scope write');
    if (approved && proof.current_password === undefined)
      throw fieldError('current_password', 'is required to approve');
    const user = approved
      ? await this.credentials.prove(actor, { ...proof, current_password: proof.current_password ?? '' }, address)
      : null;
    await this.unitOfWork.run(async (tx) => {
      if (user !== null && (await this.users.hold(user, tx)) === null) throw new AppError('UNAUTHORIZED');
      // Of two decisions at once, one finds the code undecided.
      await this.waiting(tx, userCode, 'FOR UPDATE');
      const decision = user === null ? 'denied_at = now()' : 'session_id = $2';
      await tx.query(`UPDATE device_logins SET ${decision} WHERE user_code_hash = $1`, [
        this.hasher.hash(userCode),
        ...(user === null ? [] : [actor.credentialId]),
      ]);
    });
  }

  /** @throws AppError VALIDATION_FAILED */
  private async waiting(tx: EntityManager, userCode: string, lock: '' | 'FOR UPDATE'): Promise<WaitingRow> {
    const rows = (await tx.query(`${WAITING} ${lock}`, [this.hasher.hash(userCode)])) as WaitingRow[];
    const [row] = rows;
    if (row === undefined) throw unknownCode();
    return row;
  }
}

function unknownCode(): AppError {
  return fieldError('user_code', 'is not known, has expired or was used before');
}
