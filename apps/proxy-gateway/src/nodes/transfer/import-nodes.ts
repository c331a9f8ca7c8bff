import type { ImportItem, ImportResult } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { KERNEL_CONFIG_CHANNEL } from '../../kernel-config-channel.js';
import { KernelService } from '../../kernel-process/kernel.service.js';
import { readerText } from '../../reader-text.js';
import { lockNodes } from '../lock-nodes.js';
import { NodeVault } from '../../data/node-vault.js';
import { NodeWriter } from '../node-writer.js';
import { writeRawConfig } from '../raw-config.js';
import { DocumentParser } from '../../documents/document-parser.js';
import { FetchFailure } from '../../documents/fetch-failure.js';
import { planImport } from './plan-import.js';
import type { ExistingNode, ImportPlan, NodeChange } from './plan-import.js';
import { ImportReader, UnreadableImportError } from './read-import.js';
import type { EntryLabels, EntryPlace, ReadImport } from './read-import.js';
import type { NodeImportBody, NodeImportQuery } from './transfer.dto.js';

type ExistingRow = ExistingNode & { config: string };

const SELECT_EXISTING = `
  SELECT id, fingerprint, source, coalesce(custom_name, original_name) AS name, config, enabled, tags,
    CASE WHEN country_source = 'manual' THEN country END AS country,
    EXISTS (SELECT 1 FROM node_sources WHERE node_id = nodes.id) AS carried
  FROM nodes WHERE fingerprint = ANY($1::text[]) OR ($2 AND source = 'manual')`;

/** An absent field leaves its column unchanged; `custom_name` may be set to null. */
const RELABEL = `
  UPDATE nodes SET source = 'manual', updated_at = now(),
    custom_name = CASE WHEN label ? 'custom_name' THEN label ->> 'custom_name' ELSE custom_name END,
    enabled = coalesce((label ->> 'enabled')::boolean, enabled),
    country = coalesce(label ->> 'country', country),
    country_source = CASE WHEN label ? 'country' THEN 'manual' ELSE country_source END,
    tags = CASE WHEN label ? 'tags' THEN ARRAY(SELECT jsonb_array_elements_text(label -> 'tags')) ELSE tags END
  FROM jsonb_array_elements($1::jsonb) AS label
  WHERE nodes.id = (label ->> 'id')::bigint`;

/** Imports nodes from a file or a list in one transaction, with a report for each invalid entry. */
@Injectable()
export class ImportNodes {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly writer: NodeWriter,
    private readonly vault: NodeVault,
    private readonly kernel: KernelService,
    private readonly parser: DocumentParser,
  ) {}

  /**
   * @throws AppError INVALID_ARGUMENT for a text of unknown form; UNPROCESSABLE for a `replace` that would leave no
   * nodes, unless that is allowed.
   */
  async run(body: NodeImportBody, query: NodeImportQuery): Promise<ImportResult> {
    const read = await readAll(body, this.parser);
    const { mode = 'append' } = body;
    if (mode === 'replace' && read.entries.length === 0 && query.allow_empty !== true) throw wouldBeEmpty(read);
    const dryRun = body.dry_run === true || query.dry_run === true;
    const { plan, ids } = await this.unitOfWork.run(async (tx) => {
      await this.writer.lock(tx);
      const plan = await this.plan(tx, read, mode);
      return { plan, ids: dryRun ? new Map<string, number>() : await this.apply(tx, plan) };
    });
    if (!dryRun && isChange(plan)) await this.kernel.sync();
    return { mode, dry_run: dryRun, format_detected: read.format, ...summarise(read, plan, ids) };
  }

  private async plan(tx: EntityManager, read: ReadImport, mode: ImportResult['mode']): Promise<ImportPlan> {
    const fingerprints = read.entries.map(({ fingerprint }) => fingerprint);
    const rows: ExistingRow[] = await tx.query(SELECT_EXISTING, [fingerprints, mode === 'replace']);
    const configs = new Map(rows.map(({ id, config }) => [id, config]));
    return planImport(rows, read.entries, mode, ({ id }, node) => {
      const present = this.vault.tryOpen({ id, config: configs.get(id)! });
      return present !== null && writeRawConfig({ ...present, name: '' }) === writeRawConfig({ ...node, name: '' });
    });
  }

  /** Returns the ids of new nodes by fingerprint. */
  private async apply(tx: EntityManager, plan: ImportPlan): Promise<Map<string, number>> {
    const ids = await this.writer.upsert(tx, plan.create, 'manual');
    await lockNodes(tx, [...ids.values(), ...plan.change.map(({ id }) => id), ...plan.remove.map(({ id }) => id)]);
    const redefined = plan.change.flatMap(({ id, definition }) => (definition ? [{ ...definition, id }] : []));
    await this.writer.rewrite(tx, redefined);
    const labelled = plan.create
      .filter(({ labels }) => Object.keys(labels).length > 0)
      .map(({ fingerprint, labels }) => labelRow({ id: ids.get(fingerprint)!, labels, customName: undefined }));
    await tx.query(RELABEL, [JSON.stringify([...labelled, ...plan.change.map(labelRow)])]);
    const removed = plan.remove.map(({ id }) => id);
    // A node that a subscription contains as well stays as that subscription's node.
    await tx.query(`UPDATE nodes SET source = 'subscription', updated_at = now() WHERE id = ANY($1::bigint[])`, [
      removed,
    ]);
    await this.writer.deleteOrphans(tx, removed);
    if (isChange(plan)) await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    return ids;
  }
}

async function readAll({ text, nodes }: NodeImportBody, parser: DocumentParser): Promise<ReadImport> {
  if (text === undefined && nodes === undefined) {
    throw new AppError('INVALID_ARGUMENT', 'Either text or nodes is needed', {
      details: [{ field: 'text', message: 'or nodes is needed' }],
    });
  }
  const reader = new ImportReader(parser);
  try {
    if (text !== undefined) await reader.addText(text);
  } catch (error) {
    if (!(error instanceof UnreadableImportError || error instanceof FetchFailure)) throw error;
    const message = error.message.replace('The reply', 'The text');
    throw new AppError('INVALID_ARGUMENT', `text: ${message}`, { details: [{ field: 'text', message }], cause: error });
  }
  await reader.addObjects(nodes ?? []);
  return reader.read;
}

function wouldBeEmpty({ errors }: ReadImport): AppError {
  const message =
    'The import contains no readable node, so replacing would leave none; add ?allow_empty=true to do so.';
  const details = errors.slice(0, 20).map(({ index, line, message: reason }) => ({
    field: line === null ? `nodes[${index}]` : `text line ${line}`,
    message: reason,
  }));
  return new AppError('UNPROCESSABLE', message, { details });
}

function isChange({ create, change, remove }: ImportPlan): boolean {
  return create.length + change.length + remove.length > 0;
}

/** An unpaired surrogate is valid JSON but not valid `jsonb`. */
function labelRow({ id, labels, customName }: Pick<NodeChange, 'id' | 'customName'> & { labels: EntryLabels }) {
  return { id, ...labels, ...(customName === undefined ? {} : { custom_name: customName?.toWellFormed() ?? null }) };
}

type Summary = Omit<ImportResult, 'mode' | 'dry_run' | 'format_detected'>;

function summarise(read: ReadImport, plan: ImportPlan, created: ReadonlyMap<string, number>): Summary {
  const ids = new Map(plan.entries.map(({ entry, id }) => [entry.fingerprint, id ?? created.get(entry.fingerprint)]));
  const idOf = (fingerprint: string): number | null => ids.get(fingerprint) ?? null;
  const { duplicates, errors, ignored } = read;
  const named: (ImportItem & { index: number; nodes: boolean })[] = [
    ...plan.entries.map(({ entry, action }) => itemOf(entry, entry.node.name, idOf(entry.fingerprint), action)),
    ...duplicates.map((entry) => itemOf(entry, entry.name, idOf(entry.fingerprint), 'duplicate')),
  ];
  // Entries of the text come before those of the list, each in their own order.
  named.sort((a, b) => Number(a.nodes) - Number(b.nodes) || a.index - b.index);
  const count = (action: ImportItem['action']): number => named.filter((item) => item.action === action).length;
  const skipped = ignored + errors.length;
  return {
    total: named.length + skipped,
    parsed: named.length,
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    duplicates: duplicates.length,
    removed: plan.remove.length,
    skipped,
    failed: errors.length,
    items: [
      ...named.map(({ id, name, action }) => ({ id, name, action })),
      ...plan.remove.map(({ id, name }) => ({ id, name, action: 'removed' as const })),
    ],
    errors: errors.map((each) => ({ ...each, message: readerText(each.message) })),
  };
}

function itemOf({ index, line }: EntryPlace, name: string, id: number | null, action: ImportItem['action']) {
  return { index, nodes: line === null, id, name, action };
}
