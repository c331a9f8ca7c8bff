import type { EventType } from '@gatehouse/contracts';
import { ArrayMaxSize, ArrayUnique, IsArray, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { EVENT_TYPES } from '../events/event-types.js';
import { Omittable } from '../wire/omittable.js';
import { PageQuery, QueryId, QueryInteger } from '../wire/page-query.js';
import { Flag, Line } from '../wire/text-fields.js';
import { DELIVERY_STATES, type DeliveryState } from '../data/webhook.entity.js';

export class WebhookQuery extends PageQuery {
  @QueryInteger({ min: 0, max: 1 })
  status?: number;

  @QueryId()
  owner_user_id?: number;
}

export class DeliveryQuery extends PageQuery {
  @IsOptional()
  @IsIn(DELIVERY_STATES)
  status?: DeliveryState;
}

class WebhookFields {
  /** Empty: all that the owner may see. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(EVENT_TYPES.length)
  @ArrayUnique()
  @IsIn(EVENT_TYPES, { each: true })
  event_types?: EventType[];

  /** 1 enabled, 0 disabled. */
  @Omittable()
  @Flag()
  status?: number;
}

export class WebhookChanges extends WebhookFields {
  @Omittable()
  @Line(128)
  name?: string;

  /** Without an administrator's rights: https only, and not into the gateway's network. */
  @Omittable()
  @IsString()
  @MaxLength(2_048)
  url?: string;
}

export class NewWebhookBody extends WebhookFields {
  @Line(128)
  name: string;

  /** Without an administrator's rights: https only, and not into the gateway's network. */
  @IsString()
  @MaxLength(2_048)
  url: string;
}
