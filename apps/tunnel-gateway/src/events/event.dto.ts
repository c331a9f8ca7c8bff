import type { EventType } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsOptional, Matches } from 'class-validator';
import { PageQuery, QueryId } from '../wire/page-query.js';
import { IsInstant } from '../wire/text-fields.js';
import { EVENT_TYPES } from './event-types.js';
import { EVENT_RESOURCES, type EventResourceKind } from '../common/new-event.js';

export class EventQuery extends PageQuery {
  /** Types of events, with commas between them. Default: all. */
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

  /** Not before. */
  @IsOptional()
  @IsInstant()
  from?: string;

  /** Not then nor later. */
  @IsOptional()
  @IsInstant()
  to?: string;

  /** Of a stream: the last event that the client has, where it cannot send the header `Last-Event-ID`. */
  @IsOptional()
  @Matches(/^\d{1,15}$/, { message: 'last_event_id must be the id of an event' })
  last_event_id?: string;
}
