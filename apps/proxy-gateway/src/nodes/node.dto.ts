import { NODE_SORT_FIELDS, NODE_SOURCES, PROXY_NODE_TYPES } from '@gatehouse/contracts';
import type { NodeSource, ProxyNodeType } from '@gatehouse/contracts';
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
  ArrayMaxSize,
  IsArray,
  ValidateIf,
} from 'class-validator';
import { trimmed } from '../wire/trimmed.js';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { isTextList, MAX_TAG_LENGTH, MAX_TAGS, tidyTags } from './node-labels.js';

export const MAX_PAGE = 500;
const MAX_ID = Number.MAX_SAFE_INTEGER;
const MAX_RAW = 65_536;

const upper = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' ? value.trim().toUpperCase() : value;
/** Query values are strings; anything but a whole number stays a string and is refused. */
const integer = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;

const flag = ({ value }: { value: unknown }): unknown => (value === 'true' ? true : value === 'false' ? false : value);

/** Each sort field, and the same with a minus sign for the reverse order. */
const NODE_SORTS: readonly string[] = NODE_SORT_FIELDS.flatMap((field) => [field, `-${field}`]);

/** What narrows a list of nodes, and its order. */
export class NodeConditions {
  @IsOptional()
  @IsIn(NODE_SOURCES)
  source?: NodeSource;

  @IsOptional()
  @Transform(integer)
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  subscription_id?: number;

  /** ISO 3166-1 alpha-2; `ZZ`: nodes without a known country. */
  @IsOptional()
  @Transform(upper)
  @Matches(/^[A-Z]{2}$/, { message: 'country must be two letters (ISO 3166-1 alpha-2)' })
  country?: string;

  @IsOptional()
  @IsIn(PROXY_NODE_TYPES)
  type?: ProxyNodeType;

  @IsOptional()
  @Transform(flag)
  @IsBoolean()
  enabled?: boolean;

  /** By the last test; `unknown`: never tested. */
  @IsOptional()
  @IsIn(['true', 'false', 'unknown'])
  alive?: 'true' | 'false' | 'unknown';

  @IsOptional()
  @Transform(trimmed)
  @IsString()
  @MaxLength(MAX_TAG_LENGTH)
  @OneLine()
  tag?: string;

  /** Part of the name, of the original name, or of the server; case is ignored. */
  @IsOptional()
  @Transform(trimmed)
  @IsString()
  @MaxLength(200)
  @OneLine()
  search?: string;

  /** Nodes without a value come last in either order. */
  @IsOptional()
  @IsIn(NODE_SORTS)
  sort?: string;
}

export class NodeQuery extends NodeConditions {
  @IsOptional()
  @Transform(integer)
  @IsInt()
  @Min(1)
  @Max(MAX_PAGE)
  limit = 50;

  @IsOptional()
  @Transform(integer)
  @IsInt()
  @Min(0)
  @Max(MAX_ID)
  offset = 0;
}

export class NewNodeBody {
  /** Absent or empty: the name in `raw_config`, otherwise server and port. */
  @Omittable()
  @Transform(trimmed)
  @IsString()
  @MaxLength(200)
  @OneLine()
  name?: string;

  /** The type that `raw_config` must have (`ss`, `trojan`...); absent or empty: any. */
  @Omittable()
  @Transform(trimmed)
  @IsString()
  @MaxLength(32)
  type?: string;

  /** A share link, `host:port[:user:password]`, or one node as JSON or YAML in the form of a Clash entry. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_RAW)
  raw_config: string;
}

/** Fields that are left out stay unchanged. */
export class NodeChanges {
  /** Null or empty: the original name. */
  @IsOptional()
  @Transform(trimmed)
  @IsString()
  @MaxLength(200)
  @OneLine()
  name?: string | null;

  @Omittable()
  @Transform(trimmed)
  @IsString()
  @MaxLength(32)
  type?: string;

  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_RAW)
  raw_config?: string;

  @Omittable()
  @IsBoolean()
  enabled?: boolean;

  /** Two letters; null lets the country be detected again. */
  @ValidateIf((_body, value) => value !== undefined && value !== null)
  @Transform(upper)
  @Matches(/^[A-Z]{2}$/, { message: 'country must be two letters (ISO 3166-1 alpha-2) or null' })
  country?: string | null;

  /** Labels for grouping nodes; they replace the previous ones. */
  @Omittable()
  @Transform(({ value }: { value: unknown }) => (isTextList(value) ? tidyTags(value) : value))
  @IsArray()
  @ArrayMaxSize(MAX_TAGS)
  @IsString({ each: true })
  @MaxLength(MAX_TAG_LENGTH, { each: true })
  @Matches(/^\P{Cc}*$/u, { each: true, message: 'tags must not contain control characters' })
  tags?: string[];
}
