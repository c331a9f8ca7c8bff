import { Matches } from 'class-validator';

/** A name: PostgreSQL text holds no NUL, and other control characters would reach log lines and configurations. */
export const OneLine = (): PropertyDecorator =>
  Matches(/^\P{Cc}*$/u, { message: '$property must not contain control characters' });
