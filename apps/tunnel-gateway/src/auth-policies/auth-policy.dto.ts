import type { VisitorPolicyType } from '@gatehouse/tunnel-kernel';
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { byNumber, byText, SortedBy, TIMES } from '../data/sort-keys.js';
import { Nullable, Omittable } from '../wire/omittable.js';
import { PageQuery, QueryId, QueryInteger } from '../wire/page-query.js';
import { Aliases, Flag, RowId, Whole } from '../wire/text-fields.js';
import { PolicyOAuth } from './policy-oauth.dto.js';
import { POLICY_RESOURCES, POLICY_TYPES, type PolicyResource } from '../data/auth-policy.entity.js';

const TYPE_ALIASES = { page: 'password', forward_auth: 'callback' };
const MAX_TTL = 2_592_000;

export const AUTH_POLICY_SORTS = {
  resource_type: byText('row.resource_type'),
  resource_id: byNumber('row.resource_id'),
  type: byText('row.type'),
  ...TIMES,
};

export class AuthPolicyQuery extends PageQuery {
  @SortedBy(AUTH_POLICY_SORTS)
  sort = 'id';

  @IsOptional()
  @IsIn(POLICY_RESOURCES)
  resource_type?: PolicyResource;

  @QueryId()
  resource_id?: number;

  @QueryInteger({ min: 0, max: 1 })
  enabled?: number;
}

/** A user of a `basic` policy. */
export class PolicyUser {
  @IsString()
  @Matches(/^[^:\p{Cc}\p{Cs}]{1,64}$/u, { message: 'username must be 1 to 64 characters without colons' })
  username: string;

  @IsString()
  @MinLength(1)
  @MaxLength(256)
  password: string;
}

export class AuthPolicyChanges {
  /** Type `password`; never returned. */
  @Omittable()
  @IsString()
  @MinLength(1)
  @MaxLength(256)
  password?: string;

  /** Type `basic`: all users, replacing the previous ones. */
  @Omittable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(64)
  @ValidateNested({ each: true })
  @Type(() => PolicyUser)
  @ApiProperty({ type: [PolicyUser], required: false })
  users?: PolicyUser[];

  /** Type `callback`: the URL that is asked about visitors. */
  @Nullable()
  @IsString()
  @MaxLength(2_048)
  callback_url?: string | null;

  /** Type `callback`: fields of its answer that are set on requests to targets. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(16)
  @Matches(/^(?!connection$|content-length$|transfer-encoding$|host$|te$|upgrade$)[a-z0-9-]{1,64}$/i, {
    each: true,
    message: 'copy_headers must be names of header fields that are not of the connection',
  })
  copy_headers?: string[];

  /**
   * Types `callback` and `oauth`: the server may be inside the gateway's network, and without TLS. Only for
   * administrators; reset when another user changes the server.
   */
  @Omittable()
  @IsBoolean()
  allow_private?: boolean;

  /** Type `oauth`: where visitors sign in; replaces the previous registration. */
  @Omittable()
  @ValidateNested()
  @Type(() => PolicyOAuth)
  @ApiProperty({ type: PolicyOAuth, required: false })
  oauth?: PolicyOAuth;

  @Omittable()
  @Flag()
  enabled?: number;

  /** How long one proof is valid, in seconds; 0: for this browser session, or this connection. */
  @Omittable()
  @Whole(0, MAX_TTL)
  ttl_seconds?: number;
}

export class NewAuthPolicyBody extends AuthPolicyChanges {
  @IsIn(POLICY_RESOURCES)
  resource_type: PolicyResource;

  @RowId()
  resource_id: number;

  @Aliases(TYPE_ALIASES)
  @IsIn(POLICY_TYPES)
  type: VisitorPolicyType;
}
