import { AuditRules, LOGIN_ACTION, readRow, type AuditActor, type AuditTarget, type Fields } from '@gatehouse/audit';
import { openFromRow, type SealedRow, type SecretBox, SECRET_BOX } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isSecretOption } from '../data/mask-secrets.js';
import { Preferences } from '../preferences/preferences.service.js';
import { ADMINISTRATOR } from '../auth/administrator.js';
import { auditTarget } from './audit-target.js';

interface TableOfResource {
  table: string;
  /** The column that holds the id of the resource. */
  key: 'id' | 'name';
  /** Sealed columns: the name their content is shown under, and whether it is JSON. */
  sealed?: Readonly<Record<string, { as: string; json: boolean }>>;
}

/** The table of each resource. A column added to a table is audited without a change here. */
const TABLES: Readonly<Record<string, TableOfResource>> = {
  subscription: { table: 'subscriptions', key: 'id', sealed: { sealed_url: { as: 'url', json: false } } },
  node: { table: 'nodes', key: 'id', sealed: { config: { as: 'config', json: true } } },
  rule: { table: 'rules', key: 'id' },
  rule_set: { table: 'rule_sets', key: 'id', sealed: { sealed_url: { as: 'url', json: false } } },
  outbound_group: { table: 'outbound_groups', key: 'name' },
  default_policy: { table: 'outbound_policy', key: 'id' },
  publication: { table: 'publications', key: 'id' },
  publication_template: { table: 'publication_templates', key: 'id' },
  proxy_user: { table: 'proxy_users', key: 'id', sealed: { password: { as: 'password', json: false } } },
  api_key: { table: 'api_keys', key: 'id' },
};

/** Columns that the service writes for itself, or that hold measurements: no user set them. */
const OWN_COLUMN = new RegExp(
  '^(id|created_at|updated_at|fingerprint|key_hash|token_hash|etag|(source_)?last_modified|content|position|alive|status|traffic|profile' +
    '|next_.*|hit_.*|period_.*|.*_count|.*_total|delay.*|circuit.*|exit_.*|success_.*|tested_.*|.*failures?|.*_seen_at' +
    '|last_(?!four).*|.*_at|.*_sha256|.*_bytes)$',
);
/** Times that users set, although their names look like the service's own. */
const SET_BY_PEOPLE = new Set(['expires_at', 'revoked_at']);

const PREFIX = '/api/v1/';

/** Defines for the audit log which tables, columns and secrets the calls of this service concern. */
@Injectable()
export class ProxyAuditRules extends AuditRules {
  constructor(
    private readonly dataSource: DataSource,
    private readonly preferences: Preferences,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {
    super();
  }

  target(method: string, path: string): AuditTarget | null {
    return path.startsWith(PREFIX) ? auditTarget(method, path.slice(PREFIX.length)) : null;
  }

  loggedIn(action: string): AuditActor | null {
    return action === LOGIN_ACTION ? { type: 'password', id: null, name: ADMINISTRATOR } : null;
  }

  override hides(path: string): boolean {
    const segments = path.split('.');
    // The `obfs` of hysteria is a password, that of other types a method; it is hidden for all of them.
    if (segments.at(-1) === 'obfs' || path === 'kernel.users') return true;
    return segments.some(isSecretOption) && !this.shows(path);
  }

  /** Names of settings contain dots, so `auth.token_ttl_sec` must not be taken for a secret. */
  override shows(path: string): boolean {
    return /^auth\.(enabled|token_ttl_sec)$/.test(path);
  }

  /** Null for a resource that does not exist or is not audited. */
  async read({ resourceType, resourceId }: Omit<AuditTarget, 'action'>): Promise<Fields | null> {
    if (resourceType === 'settings') return this.preferences.texts();
    const place = TABLES[resourceType ?? ''];
    const id = resourceType === 'default_policy' ? '1' : resourceId;
    if (place === undefined || id === null) return null;
    const found = await readRow(this.dataSource, place, id);
    return found ? this.open(found, place) : null;
  }

  private open(row: Record<string, unknown>, { table, sealed = {} }: TableOfResource): Fields {
    const fields: Record<string, unknown> = {};
    for (const [column, value] of Object.entries(row)) {
      const seal = sealed[column];
      if (seal && typeof value === 'string')
        fields[seal.as] = this.unseal(value, { table, id: Number(row['id']) }, seal.json);
      else if (!OWN_COLUMN.test(column) || SET_BY_PEOPLE.has(column)) fields[column] = value;
    }
    return fields;
  }

  private unseal(text: string, row: SealedRow, json: boolean): unknown {
    const opened = openFromRow(this.box, row, text);
    return json ? JSON.parse(opened) : opened;
  }
}
