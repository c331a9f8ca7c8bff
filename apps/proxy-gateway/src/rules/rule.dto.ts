import { RULE_SOURCES } from '@gatehouse/contracts';
import type { RuleSource } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import {
  IsBoolean,
  IsIP,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { QueryInteger } from '../wire/query-integer.js';
import { MAX_PRIORITY } from './rule-order.js';

const NETWORKS = ['tcp', 'udp'] as const;
type Network = (typeof NETWORKS)[number];
const MAX_ID = Number.MAX_SAFE_INTEGER;

/** Selects rules that match every field given. */
export class RuleFilterQuery {
  @IsOptional()
  @IsIn(RULE_SOURCES)
  source?: RuleSource;

  /** Text in the rule's line, its note, or the name of the node that it leads to; case is ignored. */
  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @OneLine()
  search?: string;

  /** The type's name in Clash. */
  @Omittable()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toUpperCase() : value))
  @IsString()
  @IsNotEmpty()
  @MaxLength(32)
  @OneLine()
  type?: string;

  /** A group, a built-in, or a node as `n12`. */
  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @OneLine()
  target?: string;
}

export class RuleQuery extends RuleFilterQuery {
  /** Absent: no limit; with `search`, `type` or `target` 500. */
  @QueryInteger({ min: 1, max: 500 })
  limit?: number;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset?: number;
}

export class MergedRulesQuery extends RuleFilterQuery {
  @QueryInteger({ min: 1, max: 500 })
  limit = 50;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;
}

/** A rule, as fields or as one Clash line in `raw`. When replacing a rule, fields that are left out stay unchanged. */
export class RuleBody {
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim().toUpperCase() : value))
  @IsString()
  @IsNotEmpty()
  @MaxLength(32)
  type?: string;

  @IsOptional()
  @IsString()
  @MaxLength(2_048)
  payload?: string;

  /** A group, `DIRECT`, `REJECT`, `REJECT-DROP`, `PASS`, or a node as `n12` or by its name if that is unique. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @OneLine()
  target?: string;

  @IsOptional()
  @IsBoolean()
  no_resolve?: boolean;

  @IsOptional()
  @IsBoolean()
  src?: boolean;

  @IsOptional()
  @IsBoolean()
  enabled?: boolean;

  /** Lower goes first. Without it and its two alternatives the rule goes to the end, but before a closing MATCH. */
  @Omittable()
  @IsInt()
  @Min(-MAX_PRIORITY)
  @Max(MAX_PRIORITY)
  priority?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  before_id?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  after_id?: number;

  /** Behind the rules of the active profile, before its closing MATCH; otherwise before all of them. */
  @IsOptional()
  @IsBoolean()
  after_profile?: boolean;

  /** Null removes it. */
  @ValidateIf((_body, value) => value !== undefined && value !== null)
  @IsString()
  @MaxLength(1_000)
  @Matches(/^[^\0]*$/, { message: 'note must not contain NUL characters' })
  note?: string | null;

  /** `DOMAIN-SUFFIX,example.com,PROXY`, instead of the first five fields. */
  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(2_048)
  @OneLine()
  raw?: string;
}

export class RuleTestBody {
  @IsString()
  @IsNotEmpty()
  @MaxLength(4_096)
  url: string;

  @Omittable()
  @IsIn(NETWORKS)
  network?: Network;

  /** The client's address; this machine's if left out. */
  @Omittable()
  @IsIP()
  source_ip?: string;

  /** The listener that the client connects to; `mixed` if left out. */
  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  inbound?: string;

  /** The name with which a user of the proxy logs in, with what it asks for: `ann-country-jp`. Nobody if left out. */
  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(512)
  user?: string;
}
