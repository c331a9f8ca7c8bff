import { Matches } from 'class-validator';

/**
 * A name on one line: PostgreSQL text cannot contain NUL or unpaired surrogates, and other control characters would
 * reach log lines and configurations.
 */
export const OneLine = (options: { each?: boolean } = {}): PropertyDecorator =>
  Matches(/^[^\p{Cc}\p{Cs}]*$/u, { ...options, message: '$property must not contain control or broken characters' });
