import { AuditLog, systemEntry } from '@gatehouse/audit';
import { ApiKeyStore, deviceRefusal, parseApiKey, SLOWER_SECONDS, type DeviceRefusal } from '@gatehouse/auth';
import type { DeviceLoginView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { EventLog } from '../events/event-log.js';
import { DEVICE_CODE_PREFIX, POLL_SECONDS } from './device-requests.js';

/** RFC 8628 section 3.5. A code that is not known, or was used, will never bring anything either. */
const NAMES: Record<DeviceRefusal, DeviceLoginView['status']> = {
  used: 'expired_token',
  denied: 'access_denied',
  expired: 'expired_token',
  hasty: 'slow_down',
  pending: 'authorization_pending',
};

/** A row goes when the session that approved it ends, so that nothing is issued after a log-out or a new password. */
const FIND = `
  SELECT d.machine, d.address, d.consumed_at IS NOT NULL AS consumed, d.denied_at IS NOT NULL AS denied,
    d.expires_at <= now() AS expired, d.interval_s, u.id AS user_id, u.username,
    coalesce(d.polled_at > now() - make_interval(secs => d.interval_s), false) AS hasty
  FROM device_logins d LEFT JOIN tunnel_gateway.sessions s ON s.id = d.session_id AND s.expires_at > now()
    LEFT JOIN tunnel_gateway.users u ON u.id = s.user_id AND u.status = 1 AND u.role <> 'viewer'
  WHERE d.hash = $1 FOR UPDATE OF d`;
const POLLED = `
  UPDATE device_logins SET polled_at = now(), interval_s = interval_s + CASE WHEN $2 THEN $3::int ELSE 0 END
  WHERE hash = $1`;

interface DeviceRow {
  readonly machine: string;
  readonly address: string;
  readonly consumed: boolean;
  readonly denied: boolean;
  readonly expired: boolean;
  readonly interval_s: number;
  readonly hasty: boolean;
  readonly user_id: number | null;
  readonly username: string | null;
}

interface Issued {
  readonly id: number;
  readonly machine: string;
  readonly userId: number;
  readonly username: string;
}

/** The questions of a machine that waits for its user. */
@Injectable()
export class DeviceExchange {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: ApiKeyStore,
    private readonly events: EventLog,
    private readonly audit: AuditLog,
  ) {}

  /** `address`: where the question comes from. */
  async exchange(deviceCode: string, address: string): Promise<DeviceLoginView> {
    const hash = parseApiKey(deviceCode, DEVICE_CODE_PREFIX)?.hash;
    if (hash === undefined) return waiting('expired_token');
    const { issued, view } = await this.unitOfWork.run((tx) => this.answer(hash, address, tx));
    if (issued !== undefined) await this.record(issued, address);
    return view;
  }

  private async answer(
    hash: Buffer,
    address: string,
    tx: EntityManager,
  ): Promise<{ view: DeviceLoginView; issued?: Issued }> {
    const [row] = (await tx.query(FIND, [hash])) as DeviceRow[];
    if (row === undefined) return { view: waiting('expired_token') };
    const { machine, user_id: userId, username, hasty, interval_s: interval } = row;
    const refusal = deviceRefusal({ ...row, approved: userId !== null });
    if (refusal !== null || userId === null || username === null) {
      await tx.query(POLLED, [hash, hasty, SLOWER_SECONDS]);
      return { view: waiting(NAMES[refusal ?? 'expired'], interval + (hasty ? SLOWER_SECONDS : 0)) };
    }
    await tx.query('UPDATE device_logins SET consumed_at = now() WHERE hash = $1', [hash]);
    // What publishing needs; credentials and accounts need a login, whatever the scope.
    const { key, record } = await this.keys.create({ name: machine, scopes: ['read', 'write'], userId }, tx);
    await this.events.record(
      {
        type: 'user.login',
        resource: { kind: 'user', id: userId },
        ownerUserId: userId,
        message: `${username} logged in on the machine ${machine} from ${address}`,
        data: { username, address, software: 'gatehouse-agent', machine, api_key_id: record.id },
      },
      tx,
    );
    const view: DeviceLoginView = { status: 'approved', interval, api_key: key, username };
    return { view, issued: { id: record.id, machine, userId, username } };
  }

  /** The machine has no login: the user who approved it is the one who made the key. */
  private async record({ id, machine, userId, username }: Issued, address: string): Promise<void> {
    await this.audit.append({
      ...systemEntry('api_key.create'),
      actor: { type: 'session', id: userId, name: username },
      ip: address,
      resourceType: 'api_key',
      resourceId: String(id),
      resourceName: machine,
      changes: [{ field: 'name', before: null, after: machine }],
    });
  }
}

function waiting(status: DeviceLoginView['status'], interval = POLL_SECONDS): DeviceLoginView {
  return { status, interval, api_key: null, username: null };
}
