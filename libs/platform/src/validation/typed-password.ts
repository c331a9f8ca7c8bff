import { applyDecorators } from '@nestjs/common';
import { IsNotEmpty, IsString, MaxLength } from 'class-validator';

/** An existing password as a person typed it. The rules for new passwords do not apply: they may have changed since. */
export function TypedPassword(): PropertyDecorator {
  return applyDecorators(IsString(), IsNotEmpty(), MaxLength(256));
}
