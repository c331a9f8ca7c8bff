import type { EventType } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsOptional, Matches } from 'class-validator';
import { PageQuery, QueryId } from '../wire/page-query.js';
import { IsInstant } from '../wire/text-fields.js';
import { EVENT_TYPES } from './event-types.js';
import { EVENT_RESOURCES, type EventResourceKind } from '../common/new-event.js';

export class EventQuery extends PageQuery {
  /** Comma-separated types of events. Default: all. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.split(',') : value))
  @ArrayMaxSize(EVENT_TYPES.length)
  @IsIn(EVENT_TYPES, { each: true })
  type?: EventType[];

  @IsOptional()
  @IsIn(EVENT_RESOURCES)
  resource_type?: EventResourceKind;

  @QueryId()
  resource_id?: number;

  /** From this time on. */
  @IsOptional()
  @IsInstant()
  from?: string;

  /** Before this time. */
  @IsOptional()
  @IsInstant()
  to?: string;

  /** For a stream: the client's last event, if it cannot send the header `Last-Event-ID`. */
  @IsOptional()
  @Matches(/^\d{1,15}$/, { message: 'last_event_id must be the id of an event' })
  last_event_id?: string;
}
