import { Transform } from 'class-transformer';
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { IsInstant, Omittable, OneLine, QueryInteger } from './query-fields.js';

export class AuditLogQuery {
  @QueryInteger({ min: 1, max: 500 })
  limit = 50;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;

  /** `next_cursor` of the previous page. */
  @Omittable()
  @Matches(/^\d{1,15}$/, { message: 'cursor must be a next_cursor of this list' })
  cursor?: string;

  /** A type (`password`, `session`, `api_key`, `system`, `anonymous`), an API key as `api_key:5`, a user as `session:5`, or a name. */
  @Omittable()
  @IsString()
  @OneLine()
  @MaxLength(200)
  actor?: string;

  /** For example `subscription.create`, or `subscription.*` for all of one kind. */
  @Omittable()
  @Matches(/^[a-z0-9_]{1,60}(\.([a-z0-9_]{1,60}|\*))?$/, {
    message: 'action must look like subscription.create or subscription.*',
  })
  action?: string;

  @Omittable()
  @Matches(/^[a-z0-9_]{1,60}$/, { message: 'resource_type must look like subscription' })
  resource_type?: string;

  @Omittable()
  @IsString()
  @OneLine()
  @MaxLength(200)
  resource_id?: string;

  /** RFC 3339; rows from this time on. */
  @Omittable()
  @IsInstant()
  from?: string;

  /** RFC 3339; rows before this time. */
  @Omittable()
  @IsInstant()
  to?: string;

  @Omittable()
  @Transform(({ value }: { value: unknown }) => value)
  @IsIn(['true', 'false'])
  success?: 'true' | 'false';
}
