import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { HealthCheckBody } from './health-check.dto.js';
import { RedirectBody } from './redirect.dto.js';
import { byNumber, byText, SortedBy, TIMES } from '../data/sort-keys.js';
import { Nullable, Omittable } from '../wire/omittable.js';
import { PageQuery, QueryId, QueryInteger, SearchText } from '../wire/page-query.js';
import { Aliases, Flag, Line, RowId } from '../wire/text-fields.js';
import { HOST_SCHEMES, RECORD_LEVELS, type HostRecordLevel, type HostScheme } from '../data/host.entity.js';

const MAX_FIELDS = 32;
/** 1 PiB. */
const MAX_BODY_BYTES = 2 ** 50;
const MAX_PAGE_CHARACTERS = 65_536;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]{0,1024}$/;

/** Fields that only the gateway may set: they frame the message or say who is asking. */
const RESERVED_FIELDS =
  /^(connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*|host|x-forwarded-.*|forwarded|expect|:.*)$/i;

/** Whether a value is a map of header fields that users may set. */
function isHeaderMap(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const fields = Object.entries(value);
  if (fields.length > MAX_FIELDS) return false;
  return fields.every(
    ([name, text]) => NAME.test(name) && !RESERVED_FIELDS.test(name) && typeof text === 'string' && VALUE.test(text),
  );
}

export const HOST_SORTS = {
  host: byText('row.host'),
  location: byText('row.location'),
  client_id: byNumber('row.client_id'),
  status: byNumber('row.status'),
  inlet_flow: byNumber('row.inlet_flow'),
  export_flow: byNumber('row.export_flow'),
  ...TIMES,
};

export class HostQuery extends PageQuery {
  /** A part of the name, the location or the targets. */
  @SearchText()
  q?: string;

  @SortedBy(HOST_SORTS)
  sort = 'id';

  @QueryId()
  client_id?: number;

  @QueryInteger({ min: 0, max: 1 })
  status?: number;

  /** Exactly this name. */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  host?: string;
}

/** Header fields that users may set. */
export function HeaderMap(): PropertyDecorator {
  return ValidateBy({
    name: 'isHeaderMap',
    validator: {
      validate: isHeaderMap,
      defaultMessage: () =>
        '$property must be up to 32 header fields with their texts, without fields of the connection or of the gateway',
    },
  });
}

class HostFields {
  @Omittable()
  @IsString()
  @MaxLength(1_024)
  location?: string;

  /** Refuses other spellings of the location that its target might treat as the same. */
  @Omittable()
  @IsBoolean()
  strict_path?: boolean;

  /** Replaces the location at the beginning of the path that targets receive: `/` removes it, null leaves it. */
  @Nullable()
  @IsString()
  @MaxLength(1_024)
  rewrite_path?: string | null;

  /** Visitors come back to the target that they had, while it can be reached. */
  @Omittable()
  @IsBoolean()
  sticky?: boolean;

  /** The longest body of a request in bytes; 0: no limit. */
  @Omittable()
  @IsInt()
  @Min(0)
  @Max(MAX_BODY_BYTES)
  max_body_bytes?: number;

  /** HTML for browsers in place of the gateway's page about errors, with `{status}` and `{reason}`; null: that page. */
  @Nullable()
  @IsString()
  @MaxLength(MAX_PAGE_CHARACTERS)
  @Matches(/^[^\0]*$/, { message: 'error_page must not contain NUL characters' })
  error_page?: string | null;

  /** Schemes that this host serves. */
  @Omittable()
  @Aliases({})
  @IsIn(HOST_SCHEMES)
  scheme?: HostScheme;

  /** A file in the folder of certificates (administrators); null: none. */
  @Nullable()
  @Line(1_024)
  cert_path?: string | null;

  @Nullable()
  @Line(1_024)
  key_path?: string | null;

  /** 1: orders a certificate by ACME unless files are set, and redirects http to https. */
  @Omittable()
  @Flag()
  auto_https?: number;

  /** 1 enabled, 0 disabled. */
  @Omittable()
  @Flag()
  status?: number;

  /** Sent to targets as `Host`; null: the visitor's own. */
  @Nullable()
  @IsString()
  @Matches(/^[A-Za-z0-9_.-]{1,253}(:\d{1,5})?$/, { message: 'rewrite_host must be a host such as app.internal:8080' })
  rewrite_host?: string | null;

  /** Set on requests to targets; an empty value removes the field. */
  @Omittable()
  @HeaderMap()
  request_headers?: Record<string, string>;

  /** Set on answers to visitors; an empty value removes the field. */
  @Omittable()
  @HeaderMap()
  response_headers?: Record<string, string>;

  /** Compresses answers of targets for visitors that accept it (zstd, br, gzip). */
  @Omittable()
  @IsBoolean()
  compress?: boolean;

  /** Sends visitors elsewhere in place of serving them. The whole option is replaced; null: they are served. */
  @Nullable()
  @ValidateNested()
  @Type(() => RedirectBody)
  @ApiProperty({ type: RedirectBody, required: false, nullable: true })
  redirect?: RedirectBody | null;

  /** Targets that fail are left out until they are healthy again. The whole option is replaced; null: no checks. */
  @Nullable()
  @ValidateNested()
  @Type(() => HealthCheckBody)
  @ApiProperty({ type: HealthCheckBody, required: false, nullable: true })
  health_check?: HealthCheckBody | null;

  /** What is kept of its requests: nothing, a line for each, or also heads and the beginning of bodies. */
  @Omittable()
  @IsIn(RECORD_LEVELS)
  record_requests?: HostRecordLevel;
}

export class HostChanges extends HostFields {
  /** A name, `*.name`, or `*` (administrators); international names in either spelling. */
  @Omittable()
  @Line(255)
  host?: string;

  /** `http://host:port`, `https://…` or `h2c://…`, separated by commas, each with `#weight=N`; or `tls://…`, which passes TLS on. */
  @Omittable()
  @IsString()
  @MaxLength(8_192)
  @Matches(/^[^\0]*$/, { message: 'target_addr must not contain NUL characters' })
  target_addr?: string;
}

export class NewHostBody extends HostFields {
  @RowId()
  client_id: number;

  @Line(255)
  host: string;

  @IsString()
  @MaxLength(8_192)
  @Matches(/^[^\0]*$/, { message: 'target_addr must not contain NUL characters' })
  target_addr: string;
}
