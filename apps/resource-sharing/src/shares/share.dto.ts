import { IgnoresUnknownFields, SchemaRule } from '@gatehouse/platform';
import { MAX_TEXT_BYTES } from '@gatehouse/share-links';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
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
  ValidateIf,
  type ValidationArguments,
} from 'class-validator';
import { ACCESS_CODE, LINK_TEXT } from '../links/link-schema.js';
import { TMDB_ID } from '../titles/titles.js';
import { RELATION_RULE } from './share-schema.js';

/** Words that a share is described with; the site and every client know them. */
const VIDEO_RESOLUTIONS = ['480P', '720P', '1080P', '2K', '4K', '8K'] as const;

const SOURCES = ['蓝光原盘/ISO', '蓝光原盘/REMUX', 'BDRip/BluRayEncode', 'WEB-DL/WEBRip', 'HDTV/HDTVRip'] as const;

const SUBTITLE_LANGUAGES = [
  '生肉',
  '简中',
  '繁中',
  '简日',
  '繁日',
  '简英',
  '繁英',
  '简韩',
  '繁韩',
  '简日双语',
  '繁日双语',
  '简英双语',
  '繁英双语',
] as const;

const SUBTITLE_TYPES = ['外挂', '内封', '内嵌'] as const;

/** A list of words; the refusal names the unknown ones. */
function WordsOf(words: readonly string[]): PropertyDecorator {
  const message = ({ value }: ValidationArguments): string => {
    const unknown = [value as unknown].flat().filter((word) => !words.includes(word as string));
    return `${unknown.map((word) => JSON.stringify(word)).join(', ')} is not one of ${words.join(', ')}`;
  };
  return (target, property) => {
    IsOptional()(target, property);
    IsArray()(target, property);
    ArrayMaxSize(words.length)(target, property);
    ArrayUnique()(target, property);
    IsIn(words, { each: true, message })(target, property);
  };
}

/** A text on one line, or null. */
function Line(length: number): PropertyDecorator {
  return (target, property) => {
    IsOptional()(target, property);
    IsString()(target, property);
    MaxLength(length)(target, property);
    Matches(/^\P{Cc}*$/u, { message: `${String(property)} must not contain control characters` })(target, property);
  };
}

/** Can be absent, but not null. */
const NotNull = (): PropertyDecorator => ValidateIf((_, value: unknown) => value !== undefined);

const NO_CONTROLS_BUT_BREAKS = /^(?:\P{Cc}|[\t\n\r])*$/u;

/** The fields that creating and changing a share have in common. */
class ShareDetailsBody {
  @Line(300)
  title?: string | null;

  @Line(64)
  share_size?: string | null;

  @WordsOf(VIDEO_RESOLUTIONS)
  video_resolution?: string[] | null;

  @WordsOf(SOURCES)
  source?: string[] | null;

  @WordsOf(SUBTITLE_LANGUAGES)
  subtitle_language?: string[] | null;

  @WordsOf(SUBTITLE_TYPES)
  subtitle_type?: string[] | null;

  @IsOptional()
  @IsString()
  @MaxLength(2000)
  @Matches(NO_CONTROLS_BUT_BREAKS, { message: 'remark must not contain control characters' })
  remark?: string | null;

  @Line(64)
  access_code?: string | null;

  /** 0 and null: free. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  unlock_points?: number | null;
}

@IgnoresUnknownFields()
@SchemaRule({ ...RELATION_RULE, properties: { url: LINK_TEXT, access_code: ACCESS_CODE } })
export class CreateShareBody extends ShareDetailsBody {
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_TEXT_BYTES)
  url: string;

  /** Together with media_type. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'number' ? String(value) : value))
  @IsString()
  @Matches(TMDB_ID, { message: 'tmdb_id must be a TMDB id' })
  tmdb_id?: string | null;

  @IsOptional()
  @IsIn(['movie', 'tv'])
  media_type?: 'movie' | 'tv' | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  movie_id?: number | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  tv_id?: number | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  collection_id?: number | null;

  @IsOptional()
  @IsBoolean()
  is_anonymous?: boolean | null;

  /** Default: true. */
  @IsOptional()
  @IsBoolean()
  hide_link?: boolean | null;
}

@SchemaRule({ minProperties: 1, properties: { url: LINK_TEXT, access_code: ACCESS_CODE } })
export class UpdateShareBody extends ShareDetailsBody {
  @NotNull()
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_TEXT_BYTES)
  url?: string;

  @NotNull()
  @IsBoolean()
  is_anonymous?: boolean;

  @NotNull()
  @IsBoolean()
  hide_link?: boolean;

  /** Requests a notification of followers; needs the permission `resource:notify`. */
  @NotNull()
  @IsBoolean()
  notify?: boolean;
}

const DIGITS = /^[0-9]{1,9}$/;
const MAX_PAGE = 999_999_999;

/** A whole number from a query; anything else is not converted and is refused. */
const wholeNumber = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && DIGITS.test(value) ? Number(value) : value;

/** The same for a number that is set to the nearest bound: any that can be written, also a negative one. */
const anyWholeNumber = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^-?[0-9]{1,100}$/.test(value) ? Number(value) : value;

export class ListSharesQuery {
  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(MAX_PAGE)
  page = 1;

  /** At most 100; values out of range are set to the nearest bound. */
  @IsOptional()
  @Transform(anyWholeNumber)
  @IsInt()
  page_size = 20;

  /** `link`: includes the links and access codes of the shares. */
  @IsOptional()
  @IsIn(['link'])
  include?: 'link';
}

export class ListResourcesQuery {
  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  page?: number;

  /** At most 500, 100 where only a page is given; what is beyond the bounds counts as the bound. */
  @IsOptional()
  @Transform(anyWholeNumber)
  @IsInt()
  page_size?: number;
}
