import type { EventType } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { EventResourceKind } from './event.entity.js';

export interface NewEvent {
  type: EventType;
  resource: { kind: EventResourceKind; id: number } | null;
  /** Who may see it besides administrators. */
  ownerUserId: number | null;
  /** One line for people. */
  message: string;
  /** Facts for programs; never a secret. */
  data?: Record<string, unknown>;
}

const MAX_MESSAGE = 500;
/** A fact that is longer is none that somebody reads. */
const MAX_DATA_BYTES = 8_192;

const INSERT = `
  INSERT INTO tunnel_gateway_ops.events (type, resource_type, resource_id, owner_user_id, message, data)
  SELECT type, resource_type, resource_id, owner_user_id, message, data
  FROM jsonb_to_recordset($1::jsonb) AS e (
    type text, resource_type text, resource_id bigint, owner_user_id bigint, message text, data jsonb)`;

/** Where whatever happens is written down. */
@Injectable()
export class EventLog {
  constructor(private readonly dataSource: DataSource) {}

  /** In the caller's transaction when one is given: then it happened only if that is committed. */
  async record(event: NewEvent, tx?: EntityManager): Promise<void> {
    await this.recordAll([event], tx);
  }

  async recordAll(events: readonly NewEvent[], tx?: EntityManager): Promise<void> {
    if (events.length === 0) return;
    await (tx ?? this.dataSource.manager).query(INSERT, [JSON.stringify(events.map(toRow))]);
  }
}

function toRow({ type, resource, ownerUserId, message, data = {} }: NewEvent): object {
  return {
    type,
    resource_type: resource?.kind ?? null,
    resource_id: resource?.id ?? null,
    owner_user_id: ownerUserId,
    message: storable(message).slice(0, MAX_MESSAGE),
    data: bounded(data),
  };
}

function bounded(data: Record<string, unknown>): unknown {
  const text = JSON.stringify(data, (_key, value: unknown) => (typeof value === 'string' ? storable(value) : value));
  return Buffer.byteLength(text) > MAX_DATA_BYTES ? { too_long: true } : JSON.parse(text);
}

/** Texts come from visitors and agents too; PostgreSQL takes no NUL and no half characters. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
