import { ValidateIf } from 'class-validator';

/** The field may be left out. Unlike `IsOptional` this does not let `null` pass unchecked. */
export const Omittable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);
