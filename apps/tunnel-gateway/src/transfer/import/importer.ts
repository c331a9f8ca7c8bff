import type { Actor } from '@gatehouse/auth';
import type { TransferImportView, TransferredResource } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { fieldError } from '../../wire/field-error.js';
import type { ImportBody } from '../transfer.dto.js';
import { planFrp } from './frp.js';
import type { ImportPlan, PlannedClient, PlannedResource } from './import-plan.js';
import { ImportReport, type Place } from './import-report.js';
import { ItemMaker } from './item-maker.js';
import { planNps } from './nps.js';

/**
 * Clients, tunnels, hosts, rules and accounts of one import: they are created in one transaction, which others wait
 * for.
 */
const MAX_ITEMS = 5_000;
const PLANNERS = { frp: planFrp, nps: planNps } as const;

/** Rolls back the transaction of a dry run or a failed import. */
class Undone extends Error {}

type Made = Omit<TransferredResource, 'name' | 'file' | 'path' | 'kind'>;

/** Imports configurations of other programs, completely or not at all. */
@Injectable()
export class Importer {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly maker: ItemMaker,
  ) {}

  async run(
    { format, files, dry_run: dryRun = false, client_id: clientId }: ImportBody,
    actor: Actor,
  ): Promise<TransferImportView> {
    const report = new ImportReport();
    const plan = PLANNERS[format](files, report);
    if (itemsOf(plan) > MAX_ITEMS) {
      const message = `hold more than ${MAX_ITEMS} clients, tunnels, hosts, rules and accounts: import them in parts`;
      throw fieldError('files', message);
    }
    if (clientId !== undefined) await this.maker.requireClient(clientId, actor);
    if (clientId !== undefined && plan.clients.length > 1) {
      throw fieldError('client_id', 'is for files of one client');
    }
    const resources: TransferredResource[] = [];
    const applied = await this.attempt(async (tx) => {
      await this.make(plan, clientId, { report, resources, actor, tx });
      if (dryRun || report.counts.refused > 0) throw new Undone();
    });
    const { taken, no_counterpart, refused } = report.counts;
    return {
      applied,
      dry_run: dryRun,
      taken,
      no_counterpart,
      refused,
      resources: applied ? resources : resources.map((each) => ({ ...each, id: null, key: null, command: null })),
      lines: report.lines,
      lines_left_out: report.leftOut,
    };
  }

  private async attempt(work: (tx: EntityManager) => Promise<void>): Promise<boolean> {
    try {
      await this.unitOfWork.run(work);
      return true;
    } catch (error) {
      if (error instanceof Undone) return false;
      throw error;
    }
  }

  private async make(
    { clients, resources: planned }: ImportPlan,
    given: number | undefined,
    to: Target,
  ): Promise<void> {
    const ids = new Map<string, number | null>();
    for (const client of clients) {
      if (given !== undefined) to.report.add('taken', client, `of the client ${given}`);
      ids.set(
        client.key,
        given ?? (await this.makeOne(client, 'client', to, () => this.maker.client(client, to.actor, to.tx))),
      );
    }
    for (const resource of planned) {
      const clientId = ids.get(resource.client);
      if (typeof clientId === 'number') {
        await this.makeOne(resource, resource.kind, to, () => this.maker.resource(resource, clientId, to.actor, to.tx));
      } else to.report.add('refused', resource, 'its client could not be created');
    }
  }

  /** Runs in a savepoint: a failure is reported, and the others are still tried. Null: it failed. */
  private async makeOne(
    item: PlannedClient | PlannedResource,
    kind: TransferredResource['kind'],
    { report, resources, tx }: Target,
    make: () => Promise<Made>,
  ): Promise<number | null> {
    const place: Place = { file: item.file, path: item.path };
    await tx.query('SAVEPOINT import_item');
    try {
      const made = await make();
      await tx.query('RELEASE SAVEPOINT import_item');
      for (const { as, ...leaf } of item.leaves) report.add('taken', leaf, `${as} of the ${kind}`);
      report.add('taken', place, `the ${kind} ${item.name}`);
      resources.push({ kind, name: item.name, ...place, ...made });
      return made.id;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      await tx.query('ROLLBACK TO SAVEPOINT import_item');
      report.add('refused', place, reasonOf(error));
      return null;
    }
  }
}

interface Target {
  report: ImportReport;
  resources: TransferredResource[];
  actor: Actor;
  tx: EntityManager;
}

function itemsOf({ clients, resources }: ImportPlan): number {
  const rules = clients.reduce((sum, client) => sum + client.rules.length, 0);
  const accounts = resources.reduce((sum, resource) => sum + resource.accounts.length, 0);
  return clients.length + resources.length + rules + accounts;
}

function reasonOf({ message, details }: AppError): string {
  return details.length > 0 ? details.map((each) => `${each.field}: ${each.message}`).join('; ') : message;
}
