import { Transform } from 'class-transformer';
import {
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { APPLICATION_STATUSES, AUTH_LEVELS, type AuthLevel } from '../applications/application-rows.js';
import type { ApplicationStatus } from '../credentials/credential-records.js';
import { OPEN_SCOPES, type OpenScope } from '../credentials/caller.js';
import { MAX_GRANT } from '../points/point-grants.js';
import type { SiteRole } from '../site/site-account.entity.js';
import { wholeNumber } from '../wire/whole-number.js';

/** Permissions that single members can get in addition to those of every member. */
export const PERMISSIONS = ['share:manage', 'resource:notify'] as const;
export type Permission = (typeof PERMISSIONS)[number];
export const FOREVER = 'forever';

/** Can be absent, but not null. */
const NotNull = (): PropertyDecorator => ValidateIf((_, value: unknown) => value !== undefined);

export class PageQuery {
  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  page = 1;

  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(200)
  page_size = 50;
}

export class ApplicationsQuery extends PageQuery {
  @IsOptional()
  @IsIn(APPLICATION_STATUSES)
  status?: ApplicationStatus;

  /** Only applications with a change that is waiting for review. */
  @IsOptional()
  @IsIn(['true'])
  proposed?: 'true';
}

export class ReviewBody {
  @NotNull()
  @IsIn(AUTH_LEVELS)
  auth_level?: AuthLevel;

  @NotNull()
  @IsIn(APPLICATION_STATUSES)
  status?: ApplicationStatus;

  @NotNull()
  @IsArray()
  @ArrayUnique()
  @IsIn(OPEN_SCOPES, { each: true })
  scopes?: OpenScope[];

  /** Name of the quota profile; null: the default one. */
  @IsOptional()
  @IsString()
  @Matches(/^[a-z0-9][a-z0-9_-]{0,49}$/, {
    message: 'quota_profile must be a name of lowercase letters, digits and dashes',
  })
  quota_profile?: string | null;

  /** The decision about a waiting change; needs seen_at. */
  @NotNull()
  @IsIn(['accept', 'refuse'])
  proposal?: 'accept' | 'refuse';

  /** `updated_at` of the reviewed version: 409 if the application has changed since. */
  @NotNull()
  @IsISO8601({ strict: true })
  seen_at?: string;
}

export class SearchQuery extends PageQuery {
  @IsOptional()
  @IsString()
  @MaxLength(100)
  search?: string;
}

export class UserChangeBody {
  /** An RFC 3339 time, `forever`, or null for none. */
  @IsOptional()
  @IsString()
  @Matches(/^(?:forever|\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d))?)$/, {
    message: 'premium_until must be a date, a date with time, or forever',
  })
  premium_until?: string | null;

  @NotNull()
  @IsArray()
  @ArrayUnique()
  @IsIn(PERMISSIONS, { each: true })
  permissions?: Permission[];

  @NotNull()
  @IsIn(['administrator', 'member'])
  role?: SiteRole;

  @NotNull()
  @IsBoolean()
  disabled?: boolean;

  /** Turns off the second factor of a user who lost it. */
  @NotNull()
  @IsBoolean()
  reset_second_factor?: boolean;
}

export class PointGrantBody {
  /** A negative number deducts points. */
  @IsInt()
  @Min(-MAX_GRANT)
  @Max(MAX_GRANT)
  points: number;

  /** Chosen by the caller; a repetition with the same ref has no effect. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  @Matches(/^[\x21-\x7e]+$/, { message: 'ref must be visible ASCII without spaces' })
  ref: string;

  @IsOptional()
  @IsString()
  @MaxLength(500)
  note?: string | null;
}

export class ShareChangeBody {
  @IsBoolean()
  is_official: boolean;
}

export class EndpointSwitchBody {
  /** Method and route, such as `POST /api/open/resources/unlock`. */
  @IsString()
  @Matches(/^(?:GET|POST|PATCH|PUT|DELETE) \/api\/open\/[\w/:-]{1,100}$/, {
    message: 'operation must be a method and a route of the open API',
  })
  operation: string;

  @IsBoolean()
  enabled: boolean;

  @IsOptional()
  @IsString()
  @MaxLength(300)
  reason?: string;
}
