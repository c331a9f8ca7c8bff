import {
  PUBLICATION_HEALTH,
  PUBLICATION_IDENTITIES,
  PUBLICATION_ORDERS,
  PUBLICATION_STEPS,
  PUBLICATION_TARGETS,
  PUBLICATION_TEMPLATES,
} from '@gatehouse/contracts';
import type {
  PublicationDefinition,
  PublicationHealth,
  PublicationIdentity,
  PublicationOrder,
  PublicationSources,
  PublicationStep,
  PublicationStepKind,
  PublicationTarget,
  PublicationTemplate,
} from '@gatehouse/contracts';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
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
import { IsInstant } from '../wire/instant.js';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { trimmed } from '../wire/trimmed.js';

const MAX_PATTERN = 512;

export class SourcesBody implements PublicationSources {
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

  @Omittable()
  @IsBoolean()
  manual?: boolean;
}

export class StepBody implements PublicationStep {
  @IsIn(PUBLICATION_STEPS)
  do: PublicationStepKind;

  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_PATTERN)
  @OneLine()
  name?: string;

  @Omittable()
  @IsArray()
  @ArrayMaxSize(50)
  @IsString({ each: true })
  @MaxLength(32, { each: true })
  types?: string[];

  @Omittable()
  @IsArray()
  @ArrayMaxSize(300)
  @Matches(/^[A-Z]{2}$/, { each: true, message: 'countries must be ISO 3166-1 alpha-2 codes in upper case' })
  countries?: string[];

  @Omittable()
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @MaxLength(100, { each: true })
  @OneLine({ each: true })
  tags?: string[];

  @Omittable()
  @IsIn(PUBLICATION_HEALTH)
  health?: PublicationHealth;

  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_PATTERN)
  @OneLine()
  pattern?: string;

  @Omittable()
  @IsString()
  @MaxLength(200)
  @OneLine()
  replacement?: string;

  @Omittable()
  @IsIn(PUBLICATION_ORDERS)
  by?: PublicationOrder;

  @Omittable()
  @IsBoolean()
  descending?: boolean;

  @Omittable()
  @IsIn(PUBLICATION_IDENTITIES)
  same?: PublicationIdentity;

  @Omittable()
  @IsInt()
  @Min(1)
  @Max(50_000)
  count?: number;
}

class DefinitionBody implements PublicationDefinition {
  @Omittable()
  @IsObject()
  @ValidateNested()
  @Type(() => SourcesBody)
  sources?: SourcesBody;

  @Omittable()
  @IsArray()
  @ArrayMaxSize(50)
  @ValidateNested({ each: true })
  @Type(() => StepBody)
  steps?: StepBody[];

  @Omittable()
  @IsIn(PUBLICATION_TEMPLATES)
  template?: PublicationTemplate;

  /** At most one for each target; for other targets `template` counts. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(5)
  @ArrayUnique()
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(Number.MAX_SAFE_INTEGER, { each: true })
  template_ids?: number[];

  /** `none`, `sum`, or the id of a subscription in digits. */
  @Omittable()
  @Matches(/^(?:none|sum|[1-9]\d{0,14})$/, { message: 'userinfo must be none, sum or the id of a subscription' })
  userinfo?: string;

  @Omittable()
  @IsInt()
  @Min(3_600)
  @Max(31_536_000)
  update_interval_sec?: number;
}

class PublicationOptions extends DefinitionBody {
  @Omittable()
  @IsBoolean()
  enabled?: boolean;

  /** Null: it never expires. */
  @IsOptional()
  @IsString()
  @IsInstant()
  expires_at?: string | null;

  /** For all replicas together. Null: no limit of its own. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  fetches_per_hour?: number | null;

  /** Addresses and networks in CIDR form; empty: all. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @MaxLength(50, { each: true })
  allowed_addresses?: string[];
}

export class NewPublication extends PublicationOptions {
  @Transform(trimmed)
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  @OneLine()
  name: string;
}

/** Fields that are left out stay unchanged. */
export class PublicationChanges extends PublicationOptions {
  @Omittable()
  @Transform(trimmed)
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  @OneLine()
  name?: string;
}

export class PublicationPreviewRequest extends DefinitionBody {
  /** Default `clash`. */
  @Omittable()
  @IsIn(PUBLICATION_TARGETS)
  target?: PublicationTarget;
}

export class FetchQuery {
  /** Absent: by the client's User-Agent, otherwise base64. */
  @IsOptional()
  @IsIn(PUBLICATION_TARGETS)
  target?: PublicationTarget;

  /** `nodes`: the nodes alone, without groups and rules. */
  @IsOptional()
  @IsIn(['nodes'])
  only?: 'nodes';
}
