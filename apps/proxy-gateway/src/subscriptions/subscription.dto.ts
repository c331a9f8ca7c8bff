import { SUBSCRIPTION_TYPES } from '@gatehouse/contracts';
import type { SubscriptionType } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsHttpUrl } from '../wire/is-http-url.js';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { trimmed } from '../wire/trimmed.js';

/** Providers ban subscribers that ask more often than this. */
export const MIN_INTERVAL_SEC = 60;
export const MAX_INTERVAL_SEC = 31_536_000;

const MAX_NAME = 200;
const MAX_URL = 8_192;
const MAX_TEXT = 16 * 1024 * 1024;

/** How a document is fetched and read. */
class FetchOptions {
  @Omittable()
  @IsIn(SUBSCRIPTION_TYPES)
  type?: SubscriptionType;

  /** Null or empty: the setting `subscription.user_agent`. */
  @IsOptional()
  @Transform(trimmed)
  @IsString()
  @MaxLength(300)
  @Matches(/^[\x20-\x7e]*$/, { message: 'user_agent must be printable ASCII' })
  user_agent?: string | null;

  /** Also allow private, loopback and link-local addresses. */
  @Omittable()
  @IsBoolean()
  allow_private?: boolean;
}

class SubscriptionOptions extends FetchOptions {
  @Omittable()
  @IsInt()
  @Min(MIN_INTERVAL_SEC)
  @Max(MAX_INTERVAL_SEC)
  interval_sec?: number;

  @Omittable()
  @IsBoolean()
  enabled?: boolean;

  /** Take its whole profile: groups, rules and providers, not only its nodes. */
  @Omittable()
  @IsBoolean()
  bring_rules?: boolean;
}

export class NewSubscription extends SubscriptionOptions {
  @Transform(trimmed)
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_NAME)
  @OneLine()
  name: string;

  @Transform(trimmed)
  @IsHttpUrl()
  @MaxLength(MAX_URL)
  url: string;
}

/** Fields that are left out stay unchanged. */
export class SubscriptionChanges extends SubscriptionOptions {
  @Omittable()
  @Transform(trimmed)
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_NAME)
  @OneLine()
  name?: string;

  @Omittable()
  @Transform(trimmed)
  @IsHttpUrl()
  @MaxLength(MAX_URL)
  url?: string;
}

/** Where the profile to preview is; exactly one of `url`, `subscription_id` and `text`. */
export class PreviewRequest extends FetchOptions {
  @Omittable()
  @Transform(trimmed)
  @IsHttpUrl()
  @MaxLength(MAX_URL)
  url?: string;

  /** A stored subscription. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  subscription_id?: number;

  /** The document itself. */
  @Omittable()
  @IsString()
  @MaxLength(MAX_TEXT)
  text?: string;

  /** For names that are taken: the name that the subscription would have. */
  @Omittable()
  @Transform(trimmed)
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_NAME)
  @OneLine()
  name?: string;
}

export class RefreshQuery {
  /** `true`: fetch the whole content and accept it even if it has become much smaller. */
  @IsOptional()
  @IsIn(['true', 'false'])
  force?: 'true' | 'false';
}
