import { ValidateIf } from 'class-validator';

/** The field is optional. Unlike `IsOptional`, `null` is still validated. */
export const Omittable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

/** The field is optional, and null clears it. */
export const Nullable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined && value !== null);
