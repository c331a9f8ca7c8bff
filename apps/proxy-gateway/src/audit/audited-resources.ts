import type { SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Preferences } from '../preferences/preferences.service.js';
import { SECRET_BOX } from '../secret-box.token.js';
import type { Fields } from './audit-changes.js';
import type { AuditTarget } from './audit-target.js';

interface TableOfResource {
  table: string;
  /** The column that the resource's id is found in. */
  key: 'id' | 'name';
  /** Sealed columns: under which name their content is shown, and whether it is JSON. */
  sealed?: Readonly<Record<string, { as: string; json: boolean }>>;
}

/** Where each resource lives. Whatever columns a table gains are watched without a word here. */
const TABLES: Readonly<Record<string, TableOfResource>> = {
  subscription: { table: 'subscriptions', key: 'id', sealed: { sealed_url: { as: 'url', json: false } } },
  node: { table: 'nodes', key: 'id', sealed: { config: { as: 'config', json: true } } },
  rule: { table: 'rules', key: 'id' },
  rule_set: { table: 'rule_sets', key: 'id', sealed: { sealed_url: { as: 'url', json: false } } },
  outbound_group: { table: 'outbound_groups', key: 'name' },
  default_policy: { table: 'outbound_policy', key: 'id' },
  api_key: { table: 'api_keys', key: 'id' },
};

/** Columns that the service keeps for itself, or measures: not what somebody set. */
const OWN_COLUMN = new RegExp(
  '^(id|created_at|updated_at|fingerprint|key_hash|etag|(source_)?last_modified|content|position|alive|status|traffic|profile' +
    '|next_.*|hit_.*|.*_count|.*_total|delay.*|circuit.*|exit_.*|success_.*|tested_.*|.*failures?|.*_seen_at' +
    '|last_(?!four).*|.*_at|.*_sha256|.*_bytes)$',
);
/** Ends that people set, in spite of the names. */
const SET_BY_PEOPLE = new Set(['expires_at', 'revoked_at']);

/** Reads resources as they are at one moment, for what a call changed. */
@Injectable()
export class AuditedResources {
  constructor(
    private readonly dataSource: DataSource,
    private readonly preferences: Preferences,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /** Null for what does not exist, or is not watched. */
  async read({ resourceType, resourceId }: Omit<AuditTarget, 'action'>): Promise<Fields | null> {
    if (resourceType === 'settings') return this.preferences.texts();
    const place = TABLES[resourceType ?? ''];
    const id = resourceType === 'default_policy' ? '1' : resourceId;
    if (place === undefined || id === null) return null;
    if (place.key === 'id' && !/^\d{1,15}$/.test(id)) return null;
    const [found]: { row: Record<string, unknown> }[] = await this.dataSource.query(
      `SELECT to_jsonb(found) AS row FROM ${place.table} found WHERE ${place.key} = $1`,
      [id],
    );
    return found ? this.open(found.row, place) : null;
  }

  private open(row: Record<string, unknown>, { table, sealed = {} }: TableOfResource): Fields {
    const fields: Record<string, unknown> = {};
    for (const [column, value] of Object.entries(row)) {
      const seal = sealed[column];
      if (seal && typeof value === 'string') fields[seal.as] = this.unseal(value, table, seal.json);
      else if (!OWN_COLUMN.test(column) || SET_BY_PEOPLE.has(column)) fields[column] = value;
    }
    return fields;
  }

  private unseal(text: string, table: string, json: boolean): unknown {
    const opened = this.box.open(text, table);
    return json ? JSON.parse(opened) : opened;
  }
}

/** What people call it. */
export function nameOf(fields: Fields | null): string | null {
  for (const column of ['custom_name', 'name', 'original_name', 'payload']) {
    const name = fields?.[column];
    if (typeof name === 'string' && name !== '') return name;
  }
  return null;
}
