import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min, MinLength } from 'class-validator';
import { MAX_CURSOR } from './cursor.js';

export const MAX_PAGE = 200;
const MAX_ID = Number.MAX_SAFE_INTEGER;

/** A whole number in a query string, absent or in decimal digits. */
export function QueryInteger({ min, max }: { min: number; max: number }): PropertyDecorator {
  return applyDecorators(
    IsOptional(),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value,
    ),
    IsInt(),
    Min(min),
    Max(max),
  );
}

/** An id that filters a list. */
export const QueryId = (min = 1): PropertyDecorator => QueryInteger({ min, max: MAX_ID });

/** A text to search for. */
export function SearchText(): PropertyDecorator {
  return applyDecorators(
    IsOptional(),
    IsString(),
    MinLength(1),
    MaxLength(128),
    Matches(/^[^\0]*$/, { message: '$property must not contain NUL characters' }),
  );
}

/** The requested page of a list. */
export class PageQuery {
  @QueryInteger({ min: 1, max: MAX_PAGE })
  limit = 50;

  /** `next_cursor` of the previous page. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_CURSOR)
  @Matches(/^[A-Za-z0-9_-]+$/, { message: 'cursor must be the next_cursor of an answer' })
  cursor?: string;
}
