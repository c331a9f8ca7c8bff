import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, IsISO8601, IsOptional, Matches, Max, Min, ValidateIf } from 'class-validator';

/**
 * RFC 3339; a date alone would leave the time zone open, and PostgreSQL cannot read a week date, nor an offset of 16 hours.
 */
const INSTANT = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-](0\d|1[0-5]):[0-5]\d)$/;

/** A time with its offset, such as `2026-05-01T00:00:00Z`. */
export function IsInstant(): PropertyDecorator {
  return applyDecorators(
    IsISO8601({ strict: true }),
    Matches(INSTANT, { message: '$property must be a time with its offset, such as 2026-01-31T00:00:00Z' }),
  );
}

/** The field can be absent. Unlike `IsOptional` it does not let `null` pass unchecked. */
export const Omittable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

/** PostgreSQL text cannot contain NUL or half of a surrogate pair. */
export const OneLine = (): PropertyDecorator =>
  Matches(/^[^\p{Cc}\p{Cs}]*$/u, { message: '$property must not contain control or broken characters' });

/** A whole number in a query string, absent or in decimal digits. */
export function QueryInteger({ min, max }: { min: number; max: number }): PropertyDecorator {
  return applyDecorators(
    IsOptional(),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    IsInt(),
    Min(min),
    Max(max),
  );
}
