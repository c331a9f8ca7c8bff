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
/** Fits a field of a rule line, alone and in parentheses; a colon marks the sets that the service makes itself. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._@!+-]*[\p{L}\p{N}._@!+-])?$/u;

/** Entries come in tens of thousands: one check of the list, not one of each. */
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

  /** Also fetch from private, loopback and link-local addresses. */
  @Omittable()
  @IsBoolean()
  allow_private?: boolean;

  /** Makes a rule of its own that sends what is in the set there. Null: none. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @OneLine()
  target?: string | null;

  /** Of that rule: addresses in the set do not make the kernel resolve a domain. */
  @Omittable()
  @IsBoolean()
  no_resolve?: boolean;

  /** Of that rule, among those of other sets; lower goes first. */
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

/** What is left out stays as it is. The type is for life. */
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
