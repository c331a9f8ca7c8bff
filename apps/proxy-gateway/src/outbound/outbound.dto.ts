import { GROUP_STRATEGIES } from '@gatehouse/contracts';
import type { GroupFilter, GroupStrategy, OutboundGroupType } from '@gatehouse/contracts';
import { GROUP_TYPES } from '@gatehouse/proxy-kernel';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { QueryInteger } from '../wire/query-integer.js';
import { BUILT_IN } from './outbound.view.js';

const CLOSE_CHOICES = ['none', 'group', 'all'] as const;
export type CloseChoice = (typeof CLOSE_CHOICES)[number];

export class SwitchGroup {
  /** A member of the group: `n12`, the name of a node if it is unique, a group, `DIRECT`, `REJECT` or `REJECT-DROP`. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(300)
  proxy: string;
}

export class SwitchQuery {
  /** Which open connections are closed by the switch; absent: the setting `switch.close_connections`. */
  @IsOptional()
  @IsIn(CLOSE_CHOICES)
  close_connections?: CloseChoice;
}

export class DefaultPolicy {
  /** A group, `n12`, the name of a node if it is unique, `DIRECT`, `REJECT` or `REJECT-DROP`. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(300)
  policy: string;
}

/** The page of member lists, which are long if there are thousands of nodes. */
export class MembersQuery {
  /** `false`: no members, only their number in `members_total`. */
  @IsOptional()
  @IsIn(['true', 'false'])
  members = 'true';

  /** Absent: no limit. */
  @QueryInteger({ min: 1, max: 500 })
  members_limit?: number;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  members_offset = 0;

  /** Only groups with this member: `n12` for a node, or the name of a group or a built-in. */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  member?: string;
}

export class HistoryQuery {
  @QueryInteger({ min: 1, max: 500 })
  limit = 50;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;
}

export class FilterBody implements GroupFilter {
  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(512)
  @OneLine()
  name?: string;

  @Omittable()
  @IsArray()
  @ArrayMaxSize(300)
  @Matches(/^[A-Z]{2}$/, { each: true, message: 'countries must be ISO 3166-1 alpha-2 codes in upper case' })
  countries?: string[];

  @Omittable()
  @IsArray()
  @ArrayMaxSize(50)
  @IsString({ each: true })
  @MaxLength(32, { each: true })
  types?: string[];

  @Omittable()
  @IsArray()
  @ArrayMaxSize(1_000)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(Number.MAX_SAFE_INTEGER, { each: true })
  subscription_ids?: number[];

  @Omittable()
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @MaxLength(100, { each: true })
  @OneLine({ each: true })
  tags?: string[];
}

/** All fields of a group except its name and type. `null` restores the default. */
export class GroupSettings {
  /** References as in `proxy` of a switch, in order: groups, nodes, built-ins. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(5_000)
  @IsString({ each: true })
  @IsNotEmpty({ each: true })
  @MaxLength(300, { each: true })
  members?: string[];

  /** A filter for nodes that are members as well; `{}` for all nodes, null for none. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => FilterBody)
  filter?: FilterBody | null;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => FilterBody)
  exclude?: FilterBody | null;

  @Omittable()
  @IsBoolean()
  include_countries?: boolean;

  @IsOptional()
  @IsString()
  @MaxLength(2_048)
  @Matches(/^https?:\/\/[^\s\p{Cc}]+$/u, { message: 'test_url must be an http or https URL' })
  test_url?: string | null;

  @IsOptional()
  @IsString()
  @MaxLength(200)
  @Matches(/^[1-5]\d\d(-[1-5]\d\d)?(\/[1-5]\d\d(-[1-5]\d\d)?)*$/, {
    message: 'expected_status must be HTTP statuses such as 204 or 200-299/301',
  })
  expected_status?: string | null;

  @IsOptional()
  @IsInt()
  @Min(10)
  @Max(86_400)
  interval_sec?: number | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(60_000)
  tolerance_ms?: number | null;

  @Omittable()
  @IsBoolean()
  lazy?: boolean;

  @IsOptional()
  @IsIn(GROUP_STRATEGIES)
  strategy?: GroupStrategy | null;

  @Omittable()
  @IsBoolean()
  hidden?: boolean;

  @IsOptional()
  @IsString()
  @MaxLength(2_048)
  @Matches(/^(https?:\/\/|data:image\/)[^\s\p{Cc}]+$/u, {
    message: 'icon must be an http, https or data:image address',
  })
  icon?: string | null;

  @Omittable()
  @IsIn(BUILT_IN)
  empty_fallback?: string;
}

const Name = (): PropertyDecorator => (target, key) => {
  IsString()(target, key);
  IsNotEmpty()(target, key);
  MaxLength(100)(target, key);
  OneLine()(target, key);
};

export class NewGroup extends GroupSettings {
  @Name()
  name: string;

  @IsIn(GROUP_TYPES)
  type: OutboundGroupType;
}

/** Fields that are left out stay unchanged. */
export class GroupChanges extends GroupSettings {
  @Omittable()
  @Name()
  name?: string;

  @Omittable()
  @IsIn(GROUP_TYPES)
  type?: OutboundGroupType;
}
