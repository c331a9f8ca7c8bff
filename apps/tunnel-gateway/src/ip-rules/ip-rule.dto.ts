import type { IpPatternKind, IpRuleScope } from '@gatehouse/tunnel-kernel';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIP,
  IsIn,
  IsOptional,
  IsString,
  MaxLength,
} from 'class-validator';
import { byNumber, byText, SortedBy, TIMES } from '../data/sort-keys.js';
import { Nullable, Omittable } from '../wire/omittable.js';
import { PageQuery, QueryId, SearchText } from '../wire/page-query.js';
import { Aliases, Line, RowId, Whole } from '../wire/text-fields.js';
import { PATTERN_KINDS, RULE_SCOPES, RULE_TYPES, type RuleType } from '../data/ip-rule.entity.js';

const TYPE_ALIASES = { whitelist: 'allow', white: 'allow', blacklist: 'deny', black: 'deny' };
const KIND_ALIASES = { ip: 'exact', subnet: 'cidr', geoip: 'country', as: 'asn', all: 'any' };
const MAX_PRIORITY = 1_000_000;

export const IP_RULE_SORTS = {
  scope: byText('row.scope'),
  resource_id: byNumber('row.resource_id'),
  type: byText('row.type'),
  pattern: byText('row.pattern'),
  priority: byNumber('row.priority'),
  ...TIMES,
};

export class IpRuleQuery extends PageQuery {
  /** A part of the pattern or the remark. */
  @SearchText()
  q?: string;

  @SortedBy(IP_RULE_SORTS)
  sort = 'id';

  @IsOptional()
  @Aliases(KIND_ALIASES)
  @IsIn(PATTERN_KINDS)
  pattern_kind?: IpPatternKind;

  @IsOptional()
  @IsIn(RULE_SCOPES)
  scope?: IpRuleScope;

  @QueryId(0)
  resource_id?: number;

  @IsOptional()
  @Aliases(TYPE_ALIASES)
  @IsIn(RULE_TYPES)
  type?: RuleType;
}

export class IpRuleCheckQuery {
  /** The address to check. */
  @IsIP()
  ip: string;

  /** The resource: each level down to this one is evaluated. */
  @IsOptional()
  @IsIn(RULE_SCOPES)
  resource_type: IpRuleScope = 'global';

  /** 0 for `global` and `console`. */
  @QueryId(0)
  resource_id = 0;

  /** For a host: the path of the request, `/` by default. */
  @IsOptional()
  @IsString()
  @MaxLength(2_048)
  path?: string;

  /** For a host: the method of the request, `GET` by default. */
  @IsOptional()
  @IsString()
  @MaxLength(32)
  method?: string;
}

class IpRuleFields {
  @Omittable()
  @Aliases(KIND_ALIASES)
  @IsIn(PATTERN_KINDS)
  pattern_kind?: IpPatternKind;

  /** Only for requests of hosts with one of these paths, each with all below it; `*` is one segment. Null: any path. */
  @Nullable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(32)
  @IsString({ each: true })
  @MaxLength(512, { each: true })
  paths?: string[] | null;

  /** Only for requests of hosts with one of these methods; `GET` includes `HEAD`. Null: any method. */
  @Nullable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(16)
  @IsString({ each: true })
  @MaxLength(32, { each: true })
  methods?: string[] | null;

  /** Lower numbers are evaluated first. */
  @Omittable()
  @Whole(-MAX_PRIORITY, MAX_PRIORITY)
  priority?: number;

  /** Null: none. */
  @Nullable()
  @Line(256)
  remark?: string | null;

  /** For console rules: allow the change even if it locks out its author. */
  @Omittable()
  @IsBoolean()
  force?: boolean;
}

export class IpRuleRemovalQuery {
  /** As `force` of a change. */
  @IsOptional()
  @IsIn(['true', 'false'])
  force?: 'true' | 'false';
}

export class IpRuleChanges extends IpRuleFields {
  @Omittable()
  @Aliases(TYPE_ALIASES)
  @IsIn(RULE_TYPES)
  type?: RuleType;

  /**
   * Depending on the kind: `192.0.2.1`, `10.0.0.0/8`, `10.*`, `192.0.2.1-192.0.2.9`, `CN`, `!CN`, `private`,
   * `AS13335`, `!AS13335`, `*` of kind `any`, or the name of a list.
   */
  @Omittable()
  @Line(128)
  pattern?: string;
}

export class NewIpRuleBody extends IpRuleFields {
  /** `global` and `console` require an administrator. */
  @IsIn(RULE_SCOPES)
  scope: IpRuleScope;

  /** The resource of the rule; 0 for `global` and `console`. */
  @Omittable()
  @RowId(0)
  resource_id?: number;

  @Aliases(TYPE_ALIASES)
  @IsIn(RULE_TYPES)
  type: RuleType;

  @Line(128)
  pattern: string;
}
