import type { Actor } from '@gatehouse/auth';
import type { EventPage, EventView } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import type { EventRow } from '../data/event.entity.js';
import { OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import type { EventQuery } from './event.dto.js';
import { readerText } from '../reader-text.js';
import { toEventView } from './event.view.js';

/** The ids of the first and the last event. Without events, the next id and 0. */
export interface EventSpan {
  first: number;
  last: number;
}

/** Reads the events that an actor may see. An event without an id belongs to a running transaction. */
@Injectable()
export class EventsReader {
  constructor(private readonly owned: OwnedRows) {}

  /** Newest first. */
  async page(query: EventQuery, actor: Actor): Promise<EventPage> {
    const { limit, cursor } = query;
    const request = { limit, sort: '-id', ...(cursor !== undefined && { cursor }) };
    const { items, next_cursor } = await this.owned
      .events(actor)
      .page(request, [{ sql: 'row.id IS NOT NULL' }, ...conditionsOf(query)]);
    return { items: items.map(toReader), next_cursor };
  }

  /** The events after an id, oldest first. */
  async after(id: number, query: EventQuery, actor: Actor, limit: number): Promise<EventView[]> {
    const beyond = { sql: 'row.id > :afterEvent', parameters: { afterEvent: id } };
    const { items } = await this.owned.events(actor).page({ limit }, [beyond, ...conditionsOf(query)]);
    return items.map(toReader);
  }

  /** Over the events of all users. */
  async span(): Promise<EventSpan> {
    const [row] = (await this.owned.options.query(
      `SELECT coalesce(min(id), (SELECT last_value + is_called::int FROM tunnel_gateway_ops.event_numbers)) AS first,
        coalesce(max(id), 0) AS last FROM tunnel_gateway_ops.events`,
    )) as EventSpan[];
    return row ?? { first: 1, last: 0 };
  }
}

/** Webhooks get the text as it was stored. */
function toReader(row: EventRow): EventView {
  const view = toEventView(row);
  return { ...view, message: readerText(view.message) };
}

/** Times are passed as dates: PostgreSQL parses no offset beyond 15:59, which RFC 3339 allows. */
function conditionsOf({ type, resource_type: kind, resource_id: id, from, to }: EventQuery): Condition[] {
  return [
    ...(type === undefined ? [] : [{ sql: 'row.type = ANY (:types)', parameters: { types: type } }]),
    ...(kind === undefined ? [] : [{ sql: 'row.resource_type = :kind', parameters: { kind } }]),
    ...(id === undefined ? [] : [{ sql: 'row.resource_id = :resourceId', parameters: { resourceId: id } }]),
    ...(from === undefined ? [] : [{ sql: 'row.created_at >= :from', parameters: { from: new Date(from) } }]),
    ...(to === undefined ? [] : [{ sql: 'row.created_at < :to', parameters: { to: new Date(to) } }]),
  ];
}
