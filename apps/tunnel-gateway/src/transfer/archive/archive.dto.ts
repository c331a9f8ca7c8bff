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
import { QuotaFields } from '../../quotas/quota.dto.js';
import { NewWebhookBody } from '../../webhooks/webhook.dto.js';
import { Nullable } from '../../wire/omittable.js';
import { Flag, IsInstant, Line, RowId, Whole } from '../../wire/text-fields.js';
import type { StoredOAuth } from '../../common/config-rows.js';

const TEXTS = new Set(['issuer', 'clientId', 'scope']);
const LISTS = new Set(['subjects', 'names', 'emails']);
const ENDPOINTS = new Set(['authorizationEndpoint', 'tokenEndpoint', 'userinfoEndpoint', 'introspectionEndpoint']);
const FLAGS = new Set(['namesItself', 'isProfile']);
const MAX_TEXT = 2_048;
const MAX_LIST = 1_000;

/** Whether a value is an OAuth registration as policies store it. */
function isStoredOAuth(value: unknown): boolean {
  if (!isObject(value) || !isText(value['issuer']) || !isText(value['clientId'])) return false;
  return Object.entries(value).every(([name, each]) => {
    if (TEXTS.has(name)) return isText(each);
    if (LISTS.has(name)) return Array.isArray(each) && each.length <= MAX_LIST && each.every(isText);
    return name === 'server' && isServer(each);
  });
}

function isServer(value: unknown): boolean {
  if (!isObject(value) || !isUrl(value['authorizationEndpoint']) || !isUrl(value['tokenEndpoint'])) return false;
  return Object.entries(value).every(([name, each]) =>
    ENDPOINTS.has(name) ? isUrl(each) : FLAGS.has(name) && typeof each === 'boolean',
  );
}

function isUrl(value: unknown): boolean {
  return isText(value) && /^https?:$/.test(URL.parse(value)?.protocol ?? '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT && !value.includes('\0');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fields of every row. */
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

export class ArchivedUser extends QuotaFields {
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
      defaultMessage: () => 'oauth must be a registration in the gateway’s format',
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
