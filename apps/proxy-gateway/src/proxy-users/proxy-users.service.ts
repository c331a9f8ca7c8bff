import { randomBytes } from 'node:crypto';
import { keepAnswer, readKeyExpiry, type Actor } from '@gatehouse/auth';
import type { ProxyUserDeleted, ProxyUserPage, ProxyUserTraffic, ProxyUserView } from '@gatehouse/contracts';
import { notify, type SecretBox, SECRET_BOX, takeRowId, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { maySeeSecrets } from '../auth/may-see-secrets.js';
import { sealPassword } from '../data/proxy-user-password.js';
import { ProxyUserEntity } from '../data/proxy-user.entity.js';
import { INTERNAL_USER_NAME } from '../kernel-config/internal-user.js';
import { usersOfProxy } from '../kernel-config/kernel-options.js';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import { ProxyGatewaySettings } from '../settings.js';
import { checkAddresses } from '../wire/allowed-addresses.js';
import { nextVersion, requireVersion } from '../wire/if-match.js';
import type { NewProxyUser, ProxyUserChanges, ProxyUserQuery, TrafficQuery } from './proxy-user.dto.js';
import { noSuchUser, ProxyUsersQuery } from './proxy-users.query.js';
import { UserHistory } from './user-history.js';

/** Kernels get all users with each change. */
const MOST_USERS = 10_000;
/** The number is arbitrary; nothing else in the schema locks it. */
const NAMES_LOCK = 7_320_002;

@Injectable()
export class ProxyUsersService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly query: ProxyUsersQuery,
    private readonly history: UserHistory,
    private readonly kernel: KernelService,
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  list(query: ProxyUserQuery, actor: Actor | null): Promise<ProxyUserPage> {
    return this.query.page(query, maySeeSecrets(actor));
  }

  /** @throws AppError NOT_FOUND */
  get(id: number, actor: Actor | null): Promise<ProxyUserView> {
    return this.unitOfWork.run((tx) => this.query.one(tx, id, maySeeSecrets(actor)));
  }

  /** @throws AppError INVALID_ARGUMENT, CONFLICT for a name that exists, UNPROCESSABLE above the most users. */
  async create(body: NewProxyUser): Promise<ProxyUserView> {
    const limits = limitsOf(body);
    const created = await this.unitOfWork.run(async (tx) => {
      await lockNames(tx);
      await this.refuseMore(tx);
      await this.refuseTakenName(tx, body.name);
      const id = await takeRowId(tx, 'proxy_users');
      const password = sealPassword(this.box, id, body.password ?? randomBytes(18).toString('base64url'));
      await tx.insert(ProxyUserEntity, { id, name: body.name, password, ...limits });
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
      return keepAnswer(tx, await this.query.one(tx, id, true));
    });
    await this.kernel.sync();
    return created;
  }

  /**
   * @param ifMatch the version that the caller has read; undefined: any.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONFLICT, PRECONDITION_FAILED
   */
  async update(id: number, body: ProxyUserChanges, ifMatch?: string): Promise<ProxyUserView> {
    const limits = limitsOf(body);
    const view = await this.unitOfWork.run(async (tx) => {
      if (body.name !== undefined) await lockNames(tx);
      const row = await find(tx, id);
      requireVersion(row.updatedAt, ifMatch);
      if (body.name !== undefined && body.name !== row.name) await this.refuseTakenName(tx, body.name);
      const restarts = limits.quotaPeriod !== undefined && limits.quotaPeriod !== row.quotaPeriod;
      Object.assign(row, limits, { name: body.name ?? row.name, updatedAt: nextVersion(row.updatedAt) });
      if (body.password !== undefined) row.password = sealPassword(this.box, id, body.password);
      await tx.save(row);
      if (restarts) await restartPeriod(tx, id);
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
      return this.query.one(tx, id, true);
    });
    await this.kernel.sync();
    return view;
  }

  /** @throws AppError NOT_FOUND */
  async resetTraffic(id: number): Promise<ProxyUserView> {
    const view = await this.unitOfWork.run(async (tx) => {
      await find(tx, id);
      await restartPeriod(tx, id);
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
      return this.query.one(tx, id, true);
    });
    await this.kernel.sync();
    return view;
  }

  /** @throws AppError NOT_FOUND, INVALID_ARGUMENT */
  traffic(id: number, query: TrafficQuery): Promise<ProxyUserTraffic> {
    return this.unitOfWork.run(async (tx) => this.history.read(tx, await nameOf(tx, id), query));
  }

  /** @throws AppError NOT_FOUND */
  async remove(id: number): Promise<ProxyUserDeleted> {
    await this.unitOfWork.run(async (tx) => {
      await find(tx, id);
      await tx.delete(ProxyUserEntity, id);
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    });
    await this.kernel.sync();
    return { id, deleted: true };
  }

  private async refuseTakenName(tx: EntityManager, name: string): Promise<void> {
    if (name === INTERNAL_USER_NAME) throw conflict('is the name under which this service itself uses the proxy');
    if (usersOfProxy(this.preferences, this.settings).some(({ username }) => username === name)) {
      throw conflict('is the name of a user in the setting kernel.users, or in PROXY_KERNEL_USERS');
    }
    if (await tx.existsBy(ProxyUserEntity, { name })) throw conflict('is the name of another proxy user');
  }

  private async refuseMore(tx: EntityManager): Promise<void> {
    if ((await tx.count(ProxyUserEntity)) < MOST_USERS) return;
    throw new AppError('UNPROCESSABLE', `There are at most ${MOST_USERS} proxy users`);
  }
}

type Limits = Partial<
  Pick<
    ProxyUserEntity,
    | 'enabled'
    | 'note'
    | 'expiresAt'
    | 'allowedAddresses'
    | 'maxConnections'
    | 'rateLimit'
    | 'trafficQuota'
    | 'quotaPeriod'
  >
>;

/** The columns of the fields that a body has. @throws AppError INVALID_ARGUMENT */
function limitsOf(body: ProxyUserChanges): Limits {
  checkAddresses(body.allowed_addresses ?? []);
  const columns: { [Column in keyof Limits]: Limits[Column] | undefined } = {
    enabled: body.enabled,
    note: body.note,
    expiresAt: body.expires_at === undefined ? undefined : readKeyExpiry(body.expires_at),
    allowedAddresses: body.allowed_addresses,
    maxConnections: body.max_connections,
    rateLimit: body.rate_limit,
    trafficQuota: body.traffic_quota,
    quotaPeriod: body.quota_period,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** With the period, what is in the present one is counted from now on. */
async function restartPeriod(tx: EntityManager, id: number): Promise<void> {
  await tx.query('UPDATE proxy_users SET period_start = now(), period_traffic = 0 WHERE id = $1', [id]);
}

/** Two requests at the same time cannot choose one name, or both add the last user. */
async function lockNames(tx: EntityManager): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [NAMES_LOCK]);
}

async function find(tx: EntityManager, id: number): Promise<ProxyUserEntity> {
  const row = await tx.findOne(ProxyUserEntity, { where: { id }, lock: { mode: 'pessimistic_write' } });
  if (!row) throw noSuchUser(id);
  return row;
}

async function nameOf(tx: EntityManager, id: number): Promise<string> {
  const row = await tx.findOne(ProxyUserEntity, { select: { name: true }, where: { id } });
  if (!row) throw noSuchUser(id);
  return row.name;
}

function conflict(message: string): AppError {
  return new AppError('CONFLICT', `name: ${message}`, { details: [{ field: 'name', message }] });
}
