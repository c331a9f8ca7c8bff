import { createValidationPipe } from '@gatehouse/platform';
import type { Type } from '@nestjs/common';

const pipe = createValidationPipe('VALIDATION_FAILED');

/** Reads something as the body of a request of that class. @throws AppError VALIDATION_FAILED */
export async function checkedBody<T extends object>(metatype: Type<T>, value: object): Promise<T> {
  return (await pipe.transform(value, { type: 'body', metatype })) as T;
}
