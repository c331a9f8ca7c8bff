import { BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, Unique } from 'typeorm';

/** Minutes. */
export const MIN_INTERVAL = 10;
export const MAX_INTERVAL = 7 * 24 * 60;

/** A line of a list that could not be read. */
export interface BadLine {
  /** Begins with 1. */
  line: number;
  text: string;
}

/** A list of addresses that is fetched from a URL, for rules. */
@Entity('address_lists')
@Unique('address_lists_name_key', ['name'])
@Check('address_lists_interval_check', `interval_minutes BETWEEN ${MIN_INTERVAL} AND ${MAX_INTERVAL}`)
export class AddressList {
  @BigIntId()
  id: number;

  /** What rules call it; does not change. */
  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  url: string;

  /** The URL may be in the gateway's own network, and without TLS. */
  @Column({ name: 'allow_private', type: 'boolean', default: false })
  allowPrivate: boolean;

  @Column({ name: 'interval_minutes', type: 'integer' })
  intervalMinutes: number;

  /** Ranges as `AddressSet` writes them; null: never loaded. Only read where they are needed. */
  @Column({ type: 'text', nullable: true, select: false })
  content: string | null;

  /** Addresses, networks and ranges that were read. */
  @Column({ type: 'integer', default: 0 })
  entries: number;

  /** Of the body that the content is from. */
  @Column({ type: 'integer', default: 0 })
  bytes: number;

  /** Lines of it that could not be read. */
  @Column({ name: 'bad_line_count', type: 'integer', default: 0 })
  badLineCount: number;

  /** The first of them. */
  @Column({ name: 'bad_lines', type: 'jsonb', default: [] })
  badLines: BadLine[];

  /** Validators of the body. */
  @Column({ type: 'text', nullable: true })
  etag: string | null;

  @Column({ name: 'last_modified', type: 'text', nullable: true })
  lastModified: string | null;

  /** When the content was fetched; null: never. */
  @TimestampColumn({ name: 'refreshed_at', nullable: true })
  refreshedAt: Date | null;

  /** When the server was asked last, whatever it answered. */
  @TimestampColumn({ name: 'checked_at', nullable: true })
  checkedAt: Date | null;

  /** Why it was not refreshed; null: it was. */
  @Column({ name: 'last_error', type: 'text', nullable: true })
  lastError: string | null;

  @TimestampColumn({ name: 'created_at', default: () => 'now()' })
  createdAt: Date;

  @TimestampColumn({ name: 'updated_at', default: () => 'now()' })
  updatedAt: Date;
}
