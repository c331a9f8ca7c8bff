import type { AuditLogPage, AuditVerification } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditLogQuery } from './audit-log.dto.js';
import { toAuditLogView } from '../chain/audit-row.js';
import type { AuditRow } from '../chain/audit-row.js';
import { AUDIT_COLUMNS, AuditStore } from '../chain/audit-store.js';
import { WitnessCheck } from '../witness/witness-check.js';

@Injectable()
export class AuditLogsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly store: AuditStore,
    private readonly witness: WitnessCheck,
  ) {}

  /** Newest first. */
  async list(query: AuditLogQuery): Promise<AuditLogPage> {
    const { limit, offset } = query;
    const { where, values } = conditions(query);
    const page = [...values, query.cursor ?? null, limit + 1, offset];
    const at = (back: number): string => `$${page.length - back}`;
    const [rows, [count]] = await Promise.all([
      this.dataSource.query<AuditRow[]>(
        `SELECT ${AUDIT_COLUMNS} FROM audit_logs WHERE ${where} AND (${at(2)}::bigint IS NULL OR id < ${at(2)})
         ORDER BY id DESC LIMIT ${at(1)} OFFSET ${at(0)}`,
        page,
      ),
      this.dataSource.query<{ total: number }[]>(
        `SELECT count(*)::integer AS total FROM audit_logs WHERE ${where}`,
        values,
      ),
    ]);
    const items = rows.slice(0, limit).map(toAuditLogView);
    const next = rows.length > limit ? items.at(-1) : undefined;
    return { items, total: count?.total ?? 0, limit, offset, next_cursor: next ? String(next.id) : null };
  }

  async verify(): Promise<AuditVerification> {
    const began = performance.now();
    const { checked, head, broken: ownBreak } = await this.store.verify();
    const { view: witness, broken: seen } = await this.witness.compare();
    const broken = ownBreak ?? seen;
    return {
      ok: broken === null,
      checked,
      first_id: head.firstId,
      last_id: head.lastId,
      last_hash: head.lastHash,
      broken,
      witness,
      duration_ms: Math.round(performance.now() - began),
    };
  }
}

/** The filters as SQL; values are never part of its text. */
function conditions(query: AuditLogQuery): { where: string; values: unknown[] } {
  const parts: string[] = ['true'];
  const values: unknown[] = [];
  const add = (sql: (place: string) => string, value: unknown): void => {
    values.push(value);
    parts.push(sql(`$${values.length}`));
  };
  const { actor, action, resource_type, resource_id, from, to, success } = query;
  if (actor !== undefined) {
    add((at) => `${at} IN (actor_type, actor_name, actor_type || ':' || actor_id, actor_user)`, actor);
  }
  if (action?.endsWith('.*')) add((at) => `starts_with(action, ${at})`, action.slice(0, -1));
  else if (action !== undefined) add((at) => `action = ${at}`, action);
  if (resource_type !== undefined) add((at) => `resource_type = ${at}`, resource_type);
  if (resource_id !== undefined) add((at) => `resource_id = ${at}`, resource_id);
  if (from !== undefined) add((at) => `created_at >= ${at}::timestamptz`, from);
  if (to !== undefined) add((at) => `created_at < ${at}::timestamptz`, to);
  if (success !== undefined) add((at) => `success = ${at}::boolean`, success);
  return { where: parts.join(' AND '), values };
}
