import { applyDecorators } from '@nestjs/common';
import { IsISO8601, Matches } from 'class-validator';

/** RFC 3339 with an offset: a date alone has no time zone, and PostgreSQL does not read week dates. */
const INSTANT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)$/;

/** A time with its offset, such as `2026-05-01T00:00:00Z`. */
export function IsInstant(): PropertyDecorator {
  return applyDecorators(
    IsISO8601({ strict: true }),
    Matches(INSTANT, { message: '$property must be a time with its offset, such as 2026-01-31T00:00:00Z' }),
  );
}
