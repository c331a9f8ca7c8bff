import { setImmediate } from 'node:timers/promises';
import { AppError } from '@gatehouse/platform';
import type { Type } from '@nestjs/common';
import { NewAddressListBody } from '../../address-lists/address-list.dto.js';
import { NewClientBody } from '../../clients/client.dto.js';
import { NewHostBody } from '../../hosts/host.dto.js';
import { NewIpRuleBody } from '../../ip-rules/ip-rule.dto.js';
import { NewTunnelBody } from '../../tunnels/tunnel.dto.js';
import { fieldError } from '../../wire/field-error.js';
import { checkedBody } from '../checked-body.js';
import { ArchivedDomain, ArchivedPolicy, ArchivedRow, ArchivedUser, ArchivedWebhook } from './archive.dto.js';
import { ARCHIVE_FORMAT, ARCHIVE_VERSION } from './exporter.js';

/** A validated row of an archive. */
export interface CheckedRow<B> {
  id: number;
  createdAt: Date | null;
  updatedAt: Date | null;
  body: B;
  /** Null: the archive has none. */
  hash: string | null;
}

export interface CheckedArchive {
  users: CheckedRow<ArchivedUser>[];
  clients: CheckedRow<NewClientBody>[];
  tunnels: CheckedRow<NewTunnelBody>[];
  hosts: CheckedRow<NewHostBody>[];
  address_lists: CheckedRow<NewAddressListBody>[];
  ip_rules: CheckedRow<NewIpRuleBody>[];
  auth_policies: CheckedRow<ArchivedPolicy>[];
  domains: CheckedRow<ArchivedDomain>[];
  webhooks: CheckedRow<ArchivedWebhook>[];
}

const NAMES = 'users clients tunnels hosts address_lists ip_rules auth_policies domains webhooks'.split(' ');
/** Limit for all lists together. */
const MAX_ROWS = 200_000;
/** Number of rows after which the event loop gets a turn. */
const TURN = 100;

interface HashField {
  name: string;
  form: RegExp;
}

const PASSWORD: HashField = { name: 'password_hash', form: /^\$argon2id\$[A-Za-z0-9+/=,$]{20,300}$|^!$/ };
const KEY: HashField = { name: 'verify_key', form: /^[0-9a-f]{64}$/ };
const VISITORS: HashField = { name: 'password', form: /^[^\0]{1,65536}$/ };

/** @throws AppError VALIDATION_FAILED that names the row and the field. */
export async function readArchive(archive: Record<string, unknown>): Promise<CheckedArchive> {
  const { format, version, exported_at: _at, hashes: _hashes, ...lists } = archive;
  if (format !== ARCHIVE_FORMAT) throw fieldError('archive.format', `must be ${ARCHIVE_FORMAT}`);
  if (version !== ARCHIVE_VERSION) throw fieldError('archive.version', `must be ${ARCHIVE_VERSION}`);
  for (const name of Object.keys(lists)) if (!NAMES.includes(name)) throw fieldError(`archive.${name}`, 'is not known');
  const rows = Object.values(lists).reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  if (rows > MAX_ROWS) throw fieldError('archive', `holds more than ${MAX_ROWS} rows`);
  return {
    users: await readList(lists, 'users', ArchivedUser, PASSWORD),
    clients: await readList(lists, 'clients', NewClientBody, KEY),
    tunnels: await readList(lists, 'tunnels', NewTunnelBody),
    hosts: await readList(lists, 'hosts', NewHostBody),
    address_lists: await readList(lists, 'address_lists', NewAddressListBody),
    ip_rules: await readList(lists, 'ip_rules', NewIpRuleBody),
    auth_policies: await readList(lists, 'auth_policies', ArchivedPolicy, VISITORS),
    domains: await readList(lists, 'domains', ArchivedDomain),
    webhooks: await readList(lists, 'webhooks', ArchivedWebhook),
  };
}

async function readList<B extends object>(
  lists: Record<string, unknown>,
  name: string,
  metatype: Type<B>,
  hashField?: HashField,
): Promise<CheckedRow<B>[]> {
  const list = lists[name] ?? [];
  if (!Array.isArray(list)) throw fieldError(`archive.${name}`, 'must be a list');
  const rows: CheckedRow<B>[] = [];
  for (const [index, value] of list.entries()) {
    if (index % TURN === 0) await setImmediate();
    rows.push(await readRow(value, `archive.${name}[${index}]`, metatype, hashField));
  }
  const ids = new Set(rows.map(({ id }) => id));
  if (ids.size < rows.length) throw fieldError(`archive.${name}`, 'has an id twice');
  return rows;
}

async function readRow<B extends object>(
  value: unknown,
  path: string,
  metatype: Type<B>,
  hashField: HashField | undefined,
): Promise<CheckedRow<B>> {
  if (typeof value !== 'object' || value === null) throw fieldError(path, 'must be an object');
  const { id, created_at, updated_at, ...fields } = value as Record<string, unknown>;
  const hash = hashField && fields[hashField.name];
  if (hashField) delete fields[hashField.name];
  if (hash !== undefined && !(typeof hash === 'string' && hashField?.form.test(hash))) {
    throw fieldError(`${path}.${hashField?.name}`, 'must be a hash in the gateway’s format');
  }
  try {
    const row = await checkedBody(ArchivedRow, { id, created_at, updated_at });
    const body = await checkedBody(metatype, fields);
    const time = (text: string | null | undefined): Date | null => (typeof text === 'string' ? new Date(text) : null);
    return { id: row.id, createdAt: time(row.created_at), updatedAt: time(row.updated_at), body, hash: hash ?? null };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [detail] = error.details;
    throw fieldError(`${path}.${detail?.field ?? ''}`, detail?.message ?? error.message, error);
  }
}
