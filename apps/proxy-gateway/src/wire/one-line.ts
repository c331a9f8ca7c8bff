import { Matches } from 'class-validator';

/**
 * A name: PostgreSQL text holds no NUL and no half of a surrogate pair, and other control characters would reach log lines
 * and configurations.
 */
export const OneLine = (options: { each?: boolean } = {}): PropertyDecorator =>
  Matches(/^[^\p{Cc}\p{Cs}]*$/u, { ...options, message: '$property must not contain control or broken characters' });
