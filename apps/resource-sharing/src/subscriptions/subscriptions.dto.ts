import { SchemaRule } from '@gatehouse/platform';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { wholeNumber } from '../wire/whole-number.js';

const MAX_PAGE = 1_000_000;
const TARGET_TYPES = ['media_resource'] as const;
/** A title by its type and its id here. */
const TARGET_KEY = '^(?:movie|tv|collection):[1-9][0-9]{0,14}$';

class PageQuery {
  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(MAX_PAGE)
  page = 1;

  /** At most 100. */
  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(100)
  page_size = 20;
}

export class SubscriptionsQuery extends PageQuery {
  @IsOptional()
  @IsIn(TARGET_TYPES)
  target_type?: 'media_resource';

  /** Every subscription is active: one that is ended is gone. */
  @IsOptional()
  @IsIn(['active'])
  status?: 'active';

  /** `target_key`, TMDB id or a part of the name of the title. */
  @IsOptional()
  @IsString()
  @MaxLength(100)
  q = '';
}

@SchemaRule({ properties: { target_key: { pattern: TARGET_KEY } } })
export class SubscriptionBody {
  @ApiProperty({ enum: TARGET_TYPES })
  @IsIn(TARGET_TYPES)
  target_type: 'media_resource';

  /** `movie:`, `tv:` or `collection:` with `media.id` of a share. */
  @ApiProperty({ type: String })
  @Matches(new RegExp(TARGET_KEY), { message: 'target_key must be movie:, tv: or collection: with the id of a title' })
  target_key: string;

  /** The number of `target_key` once more. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 999_999_999_999_999 })
  @ValidateIf((_, value: unknown) => value !== undefined)
  @IsInt()
  @Min(1)
  @Max(999_999_999_999_999)
  target_id?: number;
}

export class MessagesQuery extends PageQuery {
  /** There are no others. */
  @IsOptional()
  @IsIn(['subscription'])
  type?: 'subscription';

  @IsOptional()
  @IsIn(['unread', 'read'])
  status?: 'unread' | 'read';
}

export class UnreadQuery {
  /** Changes nothing: every message is of a subscription. */
  @IsOptional()
  @Matches(/^(?:[Tt]rue|[Ff]alse|[01])$/, { message: 'subscription_only must be true or false' })
  subscription_only?: string;
}

export class ReadMessagesBody {
  @ApiProperty({ type: 'array', items: { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 }, maxItems: 200 })
  @IsArray()
  @ArrayMaxSize(200)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(999_999_999_999_999, { each: true })
  ids: number[];
}
