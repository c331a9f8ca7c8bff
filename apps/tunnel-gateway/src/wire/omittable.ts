import { ValidateIf } from 'class-validator';

/** The field may be left out. Unlike `IsOptional` it does not let `null` pass unchecked. */
export const Omittable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

/** The field may be left out, and null empties it. */
export const Nullable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined && value !== null);
