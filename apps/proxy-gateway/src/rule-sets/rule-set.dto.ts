import { RULE_SET_BEHAVIORS, RULE_SET_FORMATS, RULE_SET_TYPES } from '@gatehouse/contracts';
import type { RuleSetBehavior, RuleSetFormat, RuleSetType } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
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
  ValidateBy,
} from 'class-validator';
import { MAX_PRIORITY } from '../rules/rule-order.js';
import { IsHttpUrl } from '../wire/is-http-url.js';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { trimmed } from '../wire/trimmed.js';

const MIN_INTERVAL_SEC = 60;
const MAX_INTERVAL_SEC = 31_536_000;
const MAX_ENTRIES = 100_000;
/** Fits into a field of a rule line, also inside parentheses. A colon is reserved for sets that the service creates. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._@!+-]*[\p{L}\p{N}._@!+-])?$/u;

/** Lists have tens of thousands of entries, so the list is checked as a whole. */
const IsStringList = (): PropertyDecorator =>
  ValidateBy({
    name: 'isStringList',
    validator: {
      validate: (value) => Array.isArray(value) && value.every((entry) => typeof entry === 'string' && entry !== ''),
      defaultMessage: () => 'entries must be a list of texts that are not empty',
    },
  });

class RuleSetOptions {
  @Omittable()
  @IsIn(RULE_SET_FORMATS)
  format?: RuleSetFormat;

  /** `http` only. */
  @Omittable()
  @Transform(trimmed)
  @IsHttpUrl()
  @MaxLength(8_192)
  url?: string;

  /** `file` only: relative to the folder `rule-sets` in the service's home. */
  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1_024)
  @OneLine()
  path?: string;

  /** `inline` only. */
  @Omittable()
  @Transform(({ obj }: { obj: { entries?: unknown } }) => obj.entries)
  @IsArray()
  @ArrayMaxSize(MAX_ENTRIES)
  @IsStringList()
  entries?: string[];

  @Omittable()
  @IsInt()
  @Min(MIN_INTERVAL_SEC)
  @Max(MAX_INTERVAL_SEC)
  interval_sec?: number;

  @Omittable()
  @IsBoolean()
  enabled?: boolean;

  /** Also allow private, loopback and link-local addresses. */
  @Omittable()
  @IsBoolean()
  allow_private?: boolean;

  /** The target of a rule that the set gets of its own. Null: no such rule. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @OneLine()
  target?: string | null;

  /** For that rule: addresses in the set do not make the kernel resolve names. */
  @Omittable()
  @IsBoolean()
  no_resolve?: boolean;

  /** For that rule: its position among those of other sets; lower goes first. */
  @Omittable()
  @IsInt()
  @Min(-MAX_PRIORITY)
  @Max(MAX_PRIORITY)
  priority?: number;
}

export class NewRuleSet extends RuleSetOptions {
  @Transform(trimmed)
  @IsString()
  @MaxLength(100)
  @Matches(NAME, { message: 'name must be letters, digits, spaces and any of . _ @ ! + -' })
  name: string;

  @IsIn(RULE_SET_TYPES)
  type: RuleSetType;

  @IsIn(RULE_SET_BEHAVIORS)
  behavior: RuleSetBehavior;
}

/** Fields that are left out stay unchanged. The type cannot change. */
export class RuleSetChanges extends RuleSetOptions {
  @Omittable()
  @Transform(trimmed)
  @IsString()
  @MaxLength(100)
  @Matches(NAME, { message: 'name must be letters, digits, spaces and any of . _ @ ! + -' })
  name?: string;

  @Omittable()
  @IsIn(RULE_SET_BEHAVIORS)
  behavior?: RuleSetBehavior;
}

export class ForceQuery {
  @IsOptional()
  @IsIn(['true', 'false'])
  force?: 'true' | 'false';
}
