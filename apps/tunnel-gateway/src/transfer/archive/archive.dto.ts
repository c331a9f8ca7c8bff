import type { VisitorPolicyType } from '@gatehouse/tunnel-kernel';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  ValidateBy,
} from 'class-validator';
import { POLICY_RESOURCES, POLICY_TYPES, type PolicyResource } from '../../data/auth-policy.entity.js';
import { DOMAIN_METHODS, type DomainMethod } from '../../data/domain.entity.js';
import { USER_ROLES, type UserRole } from '../../data/user.entity.js';
import { NewWebhookBody } from '../../webhooks/webhook.dto.js';
import { Nullable } from '../../wire/omittable.js';
import { Flag, IsInstant, Line, RowId, Whole } from '../../wire/text-fields.js';
import { isStoredOAuth } from './stored-oauth.js';
import type { StoredOAuth } from '../../common/config-rows.js';

/** What every row has. */
export class ArchivedRow {
  @RowId()
  id: number;

  @Nullable()
  @IsInstant()
  created_at?: string | null;

  @Nullable()
  @IsInstant()
  updated_at?: string | null;
}

export class ArchivedUser {
  @Line(64)
  username: string;

  @IsIn(USER_ROLES)
  role: UserRole;

  @Flag()
  status: number;
}

export class ArchivedDomain {
  @RowId()
  user_id: number;

  @IsString()
  @MaxLength(253)
  name: string;

  @IsIn(DOMAIN_METHODS)
  method: DomainMethod;

  @Nullable()
  @IsInstant()
  verified_at?: string | null;
}

export class ArchivedPolicy {
  @IsIn(POLICY_RESOURCES)
  resource_type: PolicyResource;

  @RowId()
  resource_id: number;

  @IsIn(POLICY_TYPES)
  type: VisitorPolicyType;

  @Nullable()
  @IsString()
  @MaxLength(2_048)
  callback_url?: string | null;

  @Flag()
  enabled: number;

  @Whole(0, 2_592_000)
  ttl_seconds: number;

  @IsArray()
  @ArrayMaxSize(16)
  @Matches(/^[a-z0-9-]{1,64}$/i, { each: true })
  copy_headers: string[];

  @IsBoolean()
  allow_private: boolean;

  @IsOptional()
  @ValidateBy({
    name: 'isStoredOAuth',
    validator: {
      validate: isStoredOAuth,
      defaultMessage: () => 'oauth must be a registration as the gateway keeps it',
    },
  })
  oauth?: StoredOAuth | null;

  @IsBoolean()
  has_secret: boolean;
}

export class ArchivedWebhook extends NewWebhookBody {
  @RowId()
  owner_user_id: number;
}
