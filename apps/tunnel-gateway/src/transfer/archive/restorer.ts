import type { Actor } from '@gatehouse/auth';
import type { RestoredRow, TransferRestoreView } from '@gatehouse/contracts';
import { afterCommit, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { QueryFailedError, type EntityManager } from 'typeorm';
import { ConsoleRules } from '../../ip-rules/console-rules.js';
import { readArchive, type CheckedArchive, type CheckedRow } from './archive-reader.js';
import { claimIds } from './id-map.js';
import type { RestoredIds } from './restore-context.js';
import { requireLists, restoreAddressLists } from './restore-lists.js';
import { RowRestorer } from './row-restorer.js';

const UNIQUE_VIOLATION = '23505';
const SHOWN = 20_000;

/** Restores an archive, completely or not at all. Free ids are kept. */
@Injectable()
export class Restorer {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly rows: RowRestorer,
    private readonly console: ConsoleRules,
  ) {}

  /** `address`: must not be locked out. @throws AppError VALIDATION_FAILED, CONFLICT, SELF_LOCKOUT and others */
  async run(archive: Record<string, unknown>, actor: Actor, address: string): Promise<TransferRestoreView> {
    const checked = await readArchive(archive);
    const changed: RestoredRow[] = [];
    try {
      await this.unitOfWork.run(async (tx) => {
        const ids = await this.idsFor(checked, tx);
        await this.restore(checked, { ids, changed, actor, tx });
        if (checked.ip_rules.some(({ body }) => body.scope === 'console')) {
          await this.console.requireWayIn(address, tx);
          afterCommit(tx, () => this.console.refresh());
        }
      });
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw new AppError('CONFLICT', 'A part of it already exists with another id', { cause: error });
    }
    const restored = Object.values(checked).reduce((sum, list: readonly unknown[]) => sum + list.length, 0);
    return { restored, changed: changed.slice(0, SHOWN) };
  }

  private async idsFor({ users, ...lists }: CheckedArchive, tx: EntityManager): Promise<RestoredIds> {
    const of = (schema: string, name: keyof typeof lists): Promise<Map<number, number>> =>
      claimIds(`${schema}.${name}`, idsOf(lists[name]), tx);
    return {
      user: await this.rows.userIds(users, tx),
      client: await of('tunnel_gateway', 'clients'),
      tunnel: await of('tunnel_gateway', 'tunnels'),
      host: await of('tunnel_gateway', 'hosts'),
      address_list: await of('tunnel_gateway_ops', 'address_lists'),
      ip_rule: await of('tunnel_gateway', 'ip_rules'),
      auth_policy: await of('tunnel_gateway', 'auth_policies'),
      domain: await of('tunnel_gateway_ops', 'domains'),
      webhook: await of('tunnel_gateway_ops', 'webhooks'),
    };
  }

  private async restore(archive: CheckedArchive, context: Parameters<RowRestorer['users']>[1]): Promise<void> {
    await this.rows.users(archive.users, context);
    await this.rows.domains(archive.domains, context);
    await this.rows.clients(archive.clients, context);
    await this.rows.tunnels(archive.tunnels, context);
    await this.rows.hosts(archive.hosts, context);
    await restoreAddressLists(archive.address_lists, context);
    await requireLists(archive.ip_rules, context);
    await this.rows.ipRules(archive.ip_rules, context);
    await this.rows.policies(archive, context);
    await this.rows.webhooks(archive.webhooks, context);
  }
}

function idsOf(rows: readonly CheckedRow<unknown>[]): number[] {
  return rows.map(({ id }) => id);
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof QueryFailedError && (error.driverError as { code?: unknown }).code === UNIQUE_VIOLATION;
}
