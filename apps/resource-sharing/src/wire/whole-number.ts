import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** For @Transform: a whole number from a query; anything else is not converted and is refused. */
export const wholeNumber = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;

/** An id in a query, with as many digits as wholeNumber() reads. */
export function QueryId(): PropertyDecorator {
  return (target, property) => {
    IsOptional()(target, property);
    Transform(wholeNumber)(target, property);
    IsInt()(target, property);
    Min(0)(target, property);
    Max(999_999_999_999_999)(target, property);
  };
}
