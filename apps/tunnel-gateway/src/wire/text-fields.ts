import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsISO8601, IsNotEmpty, IsString, Matches, Max, MaxLength, Min, ValidateBy } from 'class-validator';

/** RFC 3339; a date alone would not name a time zone. */
const INSTANT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)$/;

/** Empty: invalid. */
function utcOf(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

/** A moment with its offset, such as `2026-05-01T00:00:00Z`. */
export function IsInstant(): PropertyDecorator {
  return applyDecorators(
    IsISO8601({ strict: true }),
    Matches(INSTANT, { message: '$property must be a time with its offset, such as 2026-01-31T00:00:00Z' }),
    ValidateBy({
      name: 'isOfOurEra',
      validator: {
        validate: (text) => typeof text === 'string' && /^\d{4}-/.test(utcOf(text)),
        defaultMessage: () => '$property must be in a year that has four digits in UTC',
      },
    }),
  );
}

/** Text for people, trimmed and without control characters. */
export function Line(maxLength: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value)),
    IsString(),
    IsNotEmpty(),
    MaxLength(maxLength),
    Matches(/^[^\p{Cc}\p{Cs}]*$/u, { message: '$property must not contain control or broken characters' }),
  );
}

/** Whole numbers that a PostgreSQL integer or bigint holds. */
export function Whole(min: number, max = 2_147_483_647): PropertyDecorator {
  return applyDecorators(IsInt(), Min(min), Max(max));
}

/** The id of a row in a body. */
export const RowId = (min = 1): PropertyDecorator => Whole(min, Number.MAX_SAFE_INTEGER);

/** Other spellings of a value, case-insensitive. */
export function Aliases(aliases: Readonly<Record<string, string>>): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => {
    if (typeof value !== 'string') return value;
    const plain = value.trim().toLowerCase();
    return Object.hasOwn(aliases, plain) ? aliases[plain] : plain;
  });
}

/** 0 or 1; true and false are the same. May be left out. */
export function Flag(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ oneOf: [{ type: 'integer', enum: [0, 1] }, { type: 'boolean' }] }),
    Transform(({ value }: { value: unknown }) => (typeof value === 'boolean' ? Number(value) : value)),
    Whole(0, 1),
  );
}
