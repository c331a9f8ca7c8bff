import { Transform } from 'class-transformer';
import { IsIn, IsISO8601, IsString, Matches, MaxLength } from 'class-validator';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { QueryInteger } from '../wire/query-integer.js';

export class AuditLogQuery {
  @QueryInteger({ min: 1, max: 500 })
  limit = 50;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;

  /** `next_cursor` of the page before. */
  @Omittable()
  @Matches(/^\d{1,15}$/, { message: 'cursor must be a next_cursor of this list' })
  cursor?: string;

  /** A type (`password`, `api_key`, `system`, `anonymous`), an API key as `api_key:5`, or a name. */
  @Omittable()
  @IsString()
  @OneLine()
  @MaxLength(200)
  actor?: string;

  /** Such as `subscription.create`, or `subscription.*` for all of one kind. */
  @Omittable()
  @Matches(/^[a-z0-9_]{1,60}(\.([a-z0-9_]{1,60}|\*))?$/, {
    message: 'action must be such as subscription.create or subscription.*',
  })
  action?: string;

  @Omittable()
  @Matches(/^[a-z0-9_]{1,60}$/, { message: 'resource_type must be such as subscription' })
  resource_type?: string;

  @Omittable()
  @IsString()
  @OneLine()
  @MaxLength(200)
  resource_id?: string;

  /** RFC 3339; rows of this moment and later. */
  @Omittable()
  @IsMoment()
  from?: string;

  /** RFC 3339; rows before this moment. */
  @Omittable()
  @IsMoment()
  to?: string;

  @Omittable()
  @Transform(({ value }: { value: unknown }) => value)
  @IsIn(['true', 'false'])
  success?: 'true' | 'false';
}

function IsMoment(): PropertyDecorator {
  return (target, property) => {
    Matches(/^\d{4}-.*T.*(Z|[+-]\d{2}:\d{2})$/, {
      message: '$property must be a time with its offset, such as 2026-01-31T00:00:00Z',
    })(target, property);
    IsISO8601({ strict: true, strictSeparator: true })(target, property);
  };
}
