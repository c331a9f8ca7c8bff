import { SchemaRule } from '@gatehouse/platform';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { PUBLIC_HTTPS } from '../applications/application-schema.js';
import { QueryId, wholeNumber } from '../wire/whole-number.js';
import { WEBHOOK_EVENTS, type WebhookEvent } from './event-types.js';
import { DELIVERY_STATES, type DeliveryState } from './webhook-rows.js';

/** PostgreSQL cannot store NUL in a text; other control characters do not belong there either. */
const PLAIN = /^[^\p{Cc}]*$/u;

/** Can be absent, but not null. */
const NotNull = (): PropertyDecorator => ValidateIf((_, value: unknown) => value !== undefined);

function Name(): PropertyDecorator {
  return (target, property) => {
    IsString()(target, property);
    Length(1, 80)(target, property);
    Matches(PLAIN, { message: 'must not contain control characters' })(target, property);
  };
}

function Address(): PropertyDecorator {
  return (target, property) => {
    IsString()(target, property);
    MaxLength(2_000)(target, property);
  };
}

function EventTypes(): PropertyDecorator {
  return (target, property) => {
    IsArray()(target, property);
    ArrayMaxSize(WEBHOOK_EVENTS.length)(target, property);
    ArrayUnique()(target, property);
    IsIn(WEBHOOK_EVENTS, { each: true })(target, property);
  };
}

const ADDRESS_RULE = { properties: { url: { pattern: PUBLIC_HTTPS } } };

@SchemaRule(ADDRESS_RULE)
export class NewApplicationWebhookBody {
  @Name()
  name: string;

  /** Public and https; applications of administrators may use any address. */
  @Address()
  url: string;

  /** Empty: all. */
  @NotNull()
  @EventTypes()
  event_types: WebhookEvent[] = [];

  /** Also what calls with test keys do; the `data` of such an event has `test: true`. */
  @NotNull()
  @IsBoolean()
  test_events: boolean = false;
}

@SchemaRule(ADDRESS_RULE)
export class ApplicationWebhookChangeBody {
  @NotNull()
  @Name()
  name?: string;

  @NotNull()
  @Address()
  url?: string;

  @NotNull()
  @EventTypes()
  event_types?: WebhookEvent[];

  /** Also what calls with test keys do; the `data` of such an event has `test: true`. */
  @NotNull()
  @IsBoolean()
  test_events?: boolean;

  /** A receiver that answers 410 sets it to false. */
  @NotNull()
  @IsBoolean()
  enabled?: boolean;
}

export class ApplicationDeliveryQuery {
  @ApiProperty({ enum: DELIVERY_STATES, required: false })
  @IsOptional()
  @IsIn(DELIVERY_STATES)
  status?: DeliveryState;

  /** Id of the last delivery that was read. */
  @QueryId()
  before?: number;

  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(200)
  limit = 50;
}
