import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** A whole number in a query string, absent or in decimal digits; anything else names the parameter and answers 400. */
export function QueryInteger({ min, max }: { min: number; max: number }): PropertyDecorator {
  return applyDecorators(
    IsOptional(),
    Transform(({ value }) => toInteger(value)),
    IsInt(),
    Min(min),
    Max(max),
  );
}

/** `Number()` alone would read an empty value as 0 and take `1e3`. */
function toInteger(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
