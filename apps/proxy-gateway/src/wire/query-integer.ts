import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

/**
 * A whole number in a query string: absent or in decimal digits. Anything else is answered with 400 and the parameter's
 * name.
 */
export function QueryInteger({ min, max }: { min: number; max: number }): PropertyDecorator {
  return applyDecorators(
    IsOptional(),
    Transform(({ value }) => toInteger(value)),
    IsInt(),
    Min(min),
    Max(max),
  );
}

/** `Number()` alone would read an empty value as 0 and accept `1e3`. */
function toInteger(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
