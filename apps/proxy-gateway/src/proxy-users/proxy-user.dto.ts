import { PROXY_USER_STATUSES, QUOTA_PERIODS, type ProxyUserStatus, type QuotaPeriod } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsInstant } from '../wire/instant.js';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { QueryInteger } from '../wire/query-integer.js';
import { trimmed } from '../wire/trimmed.js';

/** A petabyte, or a petabyte a second. */
const MAX_BYTES = 1_000_000_000_000_000;
const NAME = /^[\x21-\x39\x3b-\x7e]{1,64}$/;
const NAME_RULE = 'name must be 1 to 64 characters of printable ASCII without spaces and colons';
const PASSWORD = /^[\x21-\x7e]{8,128}$/;
const PASSWORD_RULE = 'password must be 8 to 128 characters of printable ASCII without spaces';

class ProxyUserOptions {
  @Omittable()
  @IsBoolean()
  enabled?: boolean;

  @Omittable()
  @Transform(trimmed)
  @IsString()
  @MaxLength(200)
  @OneLine()
  note?: string;

  /** Null: it never expires. */
  @IsOptional()
  @IsString()
  @IsInstant()
  expires_at?: string | null;

  /** Addresses and networks in CIDR form that the user may connect from; empty: all. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @MaxLength(50, { each: true })
  allowed_addresses?: string[];

  /** At the same time. Null: no limit of its own. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  max_connections?: number | null;

  /** Bytes per second, both directions of all connections together. Null: no limit. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_BYTES)
  rate_limit?: number | null;

  /** Bytes in a period, both directions together. Null: no limit. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_BYTES)
  traffic_quota?: number | null;

  /** Default `total`. Another period starts counting again. */
  @Omittable()
  @IsIn(QUOTA_PERIODS)
  quota_period?: QuotaPeriod;
}

export class NewProxyUser extends ProxyUserOptions {
  @IsString()
  @Matches(NAME, { message: NAME_RULE })
  name: string;

  /** Absent: a random one. */
  @Omittable()
  @IsString()
  @Matches(PASSWORD, { message: PASSWORD_RULE })
  password?: string;
}

/** Fields that are left out stay unchanged. */
export class ProxyUserChanges extends ProxyUserOptions {
  @Omittable()
  @IsString()
  @Matches(NAME, { message: NAME_RULE })
  name?: string;

  @Omittable()
  @IsString()
  @Matches(PASSWORD, { message: PASSWORD_RULE })
  password?: string;
}

export const PROXY_USER_SORTS = ['name', 'created_at', 'last_used_at', 'period_traffic'] as const;

export class ProxyUserQuery {
  /** Part of the name or the note; case is ignored. */
  @IsOptional()
  @Transform(trimmed)
  @IsString()
  @MaxLength(200)
  @OneLine()
  search?: string;

  @IsOptional()
  @IsIn(PROXY_USER_STATUSES)
  status?: ProxyUserStatus;

  /** A minus sign reverses the order. Users without a value come last. Default `name`. */
  @IsOptional()
  @IsIn(PROXY_USER_SORTS.flatMap((field) => [field, `-${field}`]))
  sort = 'name';

  @QueryInteger({ min: 1, max: 500 })
  limit = 50;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;
}

export class TrafficQuery {
  /** Start of the period, rounded down to the full hour. Absent: 24 hourly buckets before the end. */
  @IsOptional()
  @IsInstant()
  from?: string;

  /** End of the period. Absent: now. */
  @IsOptional()
  @IsInstant()
  to?: string;
}
