import type { RuleSetType } from '@gatehouse/contracts';
import { takeRowId, type SecretBox, SECRET_BOX } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { sealUrl, tryOpenUrl } from '../sealed-url.js';
import type { ReadRuleSet } from '../kernel-config/read-rule-set.js';
import { entryColumns } from './refresh-outcome.js';
import { deleteEntries, writeEntries } from './rule-set-entries.store.js';
import { RuleSetParser } from './rule-set-parser.js';
import type { NewRuleSet, RuleSetChanges } from './rule-set.dto.js';
import { RuleSetEntity } from '../data/rule-set.entity.js';

const DEFAULT_INTERVAL_SEC = 86_400;
/** The field that names the source of the entries, by type. */
const SOURCE_FIELD = { http: 'url', file: 'path', inline: 'entries' } as const satisfies Record<RuleSetType, string>;
const FORGET_ORIGIN = { etag: null, lastModified: null, contentSha256: null, contentBytes: null };
const NO_ENTRIES = { entriesSha256: null, entryCount: 0, skippedCount: 0, errors: [], status: 'never' as const };

/** Turns the bodies of requests into rows of rule sets. */
@Injectable()
export class RuleSetDefinitions {
  constructor(
    private readonly parser: RuleSetParser,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /** @throws AppError INVALID_ARGUMENT. */
  async create(tx: EntityManager, body: NewRuleSet): Promise<RuleSetEntity> {
    refuseForeignFields(body.type, body);
    const field = SOURCE_FIELD[body.type];
    if (body[field] === undefined) throw invalid(field, `is required for type ${body.type}`);
    const id = await takeRowId(tx, 'rule_sets');
    const row = tx.create(RuleSetEntity, {
      id,
      name: body.name,
      type: body.type,
      behavior: body.behavior,
      format: formatOf(body),
      sealedUrl: body.url === undefined ? null : sealUrl(this.box, 'rule_sets', id, body.url),
      path: body.path ?? null,
      intervalSec: body.interval_sec ?? DEFAULT_INTERVAL_SEC,
      enabled: body.enabled ?? true,
      allowPrivate: body.allow_private ?? false,
      errors: [],
    });
    refuseImpossible(row);
    const saved = await tx.save(row);
    if (body.entries !== undefined) await this.writeInline(tx, saved, body.entries);
    return saved;
  }

  /** @returns whether the source has to be read again. */
  async change(tx: EntityManager, row: RuleSetEntity, body: RuleSetChanges): Promise<boolean> {
    refuseForeignFields(row.type, body);
    const { behavior, format, path, enabled } = row;
    const moved = body.url !== undefined && body.url !== this.urlOf(row);
    row.name = body.name ?? row.name;
    row.behavior = body.behavior ?? row.behavior;
    row.format = body.format ?? row.format;
    row.path = body.path ?? row.path;
    row.intervalSec = body.interval_sec ?? row.intervalSec;
    row.enabled = body.enabled ?? row.enabled;
    row.allowPrivate = body.allow_private ?? row.allowPrivate;
    if (moved && body.url !== undefined) row.sealedUrl = sealUrl(this.box, 'rule_sets', row.id, body.url);
    refuseImpossible(row);
    const needsParsing = row.behavior !== behavior || row.format !== format;
    const needsRefresh = row.type !== 'inline' && (moved || needsParsing || row.path !== path);
    if (needsRefresh) Object.assign(row, FORGET_ORIGIN);
    if (row.behavior !== behavior) await this.forgetEntries(tx, row, body);
    const saved = await tx.save(row);
    if (body.entries !== undefined) await this.writeInline(tx, saved, body.entries);
    return needsRefresh || (row.type !== 'inline' && row.enabled && !enabled);
  }

  private urlOf({ id, sealedUrl }: RuleSetEntity): string | null {
    return sealedUrl === null ? null : tryOpenUrl(this.box, 'rule_sets', { id, sealedUrl });
  }

  /** Entries of one behavior are invalid under another. */
  private async forgetEntries(tx: EntityManager, row: RuleSetEntity, body: RuleSetChanges): Promise<void> {
    if (row.type === 'inline' && body.entries === undefined) {
      throw invalid('entries', 'is required with another behavior');
    }
    await deleteEntries(tx, row.id);
    Object.assign(row, NO_ENTRIES);
  }

  private async writeInline(tx: EntityManager, row: RuleSetEntity, entries: readonly string[]): Promise<void> {
    const set = await this.parser.read(Buffer.from(entries.join('\n')), { format: 'text', behavior: row.behavior });
    refuseBadEntries(set, entries);
    await writeEntries(tx, row.id, set.data);
    const now = new Date();
    const times = { lastCheckedAt: now, lastSuccessAt: now, lastUpdatedAt: now };
    Object.assign(row, entryColumns(set), times);
    await tx.save(row);
  }
}

function formatOf({ format, type }: NewRuleSet) {
  return format ?? (type === 'inline' ? 'text' : 'yaml');
}

function refuseForeignFields(type: RuleSetType, body: RuleSetChanges): void {
  for (const [owner, field] of Object.entries(SOURCE_FIELD)) {
    if (owner !== type && body[field] !== undefined) throw invalid(field, `is for type ${owner} only`);
  }
  if (type === 'inline' && body.format !== undefined && body.format !== 'text') {
    throw invalid('format', 'of type inline is text');
  }
}

function refuseImpossible({ format, behavior }: RuleSetEntity): void {
  if (format === 'mrs' && behavior === 'classical') throw invalid('format', 'mrs holds no classical entries');
  if (format === 'domain-set' && behavior !== 'domain') throw invalid('format', 'domain-set holds domains only');
}

function refuseBadEntries({ errors, count }: ReadRuleSet, entries: readonly string[]): void {
  const several = entries.findIndex((entry) => /[\r\n]/.test(entry));
  if (several >= 0) throw invalid(`entries[${several}]`, 'must be one line');
  if (errors.length > 0) {
    const details = errors.slice(0, 20).map(({ line, message }) => ({ field: `entries[${(line ?? 1) - 1}]`, message }));
    throw new AppError('INVALID_ARGUMENT', 'Some entries cannot be read', { details });
  }
  if (count === 0) throw invalid('entries', 'holds no entry');
}

function invalid(field: string, message: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}
