import { isAddressRange, SchemaRule, TypedPassword } from '@gatehouse/platform';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateIf,
} from 'class-validator';
import type { ApplicationKind } from '../credentials/credential-records.js';
import { OPEN_SCOPES, type OpenScope } from '../credentials/caller.js';
import { OptionalFactorCode } from '../site/site.dto.js';
import { applicationChangeRule, NEW_KEY_RULE, newApplicationRule } from './application-schema.js';
import { APPLICATION_KINDS } from './application-rows.js';
import { VISIBLE_NAME } from './visible-name.js';

/** PostgreSQL cannot store NUL in a text; other control characters do not belong there either. */
const PLAIN = /^[^\p{Cc}]*$/u;
const PROSE = /^(?:\P{Cc}|[\t\n\r])*$/u;

/** Can be absent, but not null. */
const NotNull = (): PropertyDecorator => ValidateIf((_, value: unknown) => value !== undefined);

function IsScopes(): PropertyDecorator {
  return (target, property) => {
    IsArray()(target, property);
    ArrayMinSize(1)(target, property);
    ArrayUnique()(target, property);
    IsIn(OPEN_SCOPES, { each: true })(target, property);
  };
}

function IsRedirectUris(): PropertyDecorator {
  return (target, property) => {
    IsArray()(target, property);
    ArrayMinSize(1)(target, property);
    ArrayMaxSize(20)(target, property);
    IsString({ each: true })(target, property);
  };
}

function IsAddressList(): PropertyDecorator {
  const validator = {
    validate: isAddressRange,
    defaultMessage: () => 'each must be an address or a range such as 192.0.2.0/24',
  };
  return (target, property) => {
    IsArray()(target, property);
    ArrayMaxSize(50)(target, property);
    ValidateBy({ name: 'isAddressRange', validator }, { each: true })(target, property);
  };
}

@SchemaRule(newApplicationRule)
export class NewApplicationBody {
  @IsString()
  @Length(1, 80)
  @Matches(VISIBLE_NAME, { message: 'must not be empty or contain invisible or text-direction characters' })
  name: string;

  @IsOptional()
  @IsString()
  @MaxLength(1_000)
  @Matches(PROSE, { message: 'must not contain control characters except tabs and line breaks' })
  description?: string;

  @NotNull()
  @IsIn(APPLICATION_KINDS)
  kind: ApplicationKind = 'confidential';

  @IsRedirectUris()
  redirect_uris: string[];

  @IsScopes()
  scopes: OpenScope[];

  @IsOptional()
  @IsBoolean()
  require_pkce?: boolean;

  @IsOptional()
  @IsAddressList()
  ip_allow?: string[];
}

@SchemaRule(applicationChangeRule)
export class ApplicationChangeBody {
  @NotNull()
  @IsString()
  @Length(1, 80)
  @Matches(VISIBLE_NAME, { message: 'must not be empty or contain invisible or text-direction characters' })
  name?: string;

  @NotNull()
  @IsString()
  @MaxLength(1_000)
  @Matches(PROSE, { message: 'must not contain control characters except tabs and line breaks' })
  description?: string;

  @NotNull()
  @IsRedirectUris()
  redirect_uris?: string[];

  @NotNull()
  @IsScopes()
  scopes?: OpenScope[];

  @NotNull()
  @IsBoolean()
  require_pkce?: boolean;

  @NotNull()
  @IsAddressList()
  ip_allow?: string[];

  @NotNull()
  @IsArray()
  @ArrayMaxSize(5)
  @ArrayUnique()
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(Number.MAX_SAFE_INTEGER, { each: true })
  test_user_ids?: number[];

  @NotNull()
  @IsBoolean()
  bound_to_owner?: boolean;

  /** The password of the account; required to set bound_to_owner. */
  @NotNull()
  @TypedPassword()
  current_password?: string;

  /** For accounts with a second factor, wherever the password is required. */
  @OptionalFactorCode()
  code?: string;
}

export class SecretRotationBody {
  @NotNull()
  @IsInt()
  @Min(0)
  @Max(30 * 86_400)
  overlap_seconds?: number;

  /** The password of the account; required if the application acts for its owner. */
  @NotNull()
  @TypedPassword()
  current_password?: string;

  /** For accounts with a second factor, wherever the password is required. */
  @OptionalFactorCode()
  code?: string;
}

@SchemaRule(NEW_KEY_RULE)
export class NewKeyBody {
  /** The password of the account, because a key outlives the session that creates it. */
  @TypedPassword()
  current_password: string;

  /** For accounts with a second factor. */
  @OptionalFactorCode()
  code?: string;

  @IsString()
  @Length(1, 80)
  @Matches(PLAIN, { message: 'must not contain control characters' })
  name: string;

  @IsScopes()
  scopes: OpenScope[];

  @IsOptional()
  @IsISO8601({ strict: true })
  expires_at?: string | null;

  @IsOptional()
  @IsAddressList()
  ip_allow?: string[];
}
