import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsString, Matches } from 'class-validator';

/** A login name, converted to lower case so that no two look alike. */
export function UserName(): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim().toLowerCase() : value)),
    IsString(),
    Matches(/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/, {
      message: '$property must begin with a letter or digit and have up to 64 of a-z, 0-9 and . _ @ + -',
    }),
  );
}
