import { TypedPassword } from '@gatehouse/platform';
import { applyDecorators } from '@nestjs/common';
import { IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { Omittable } from '../wire/omittable.js';

/** Six digits of an authenticator, or a recovery code. */
export function FactorCode(): PropertyDecorator {
  return applyDecorators(IsString(), IsNotEmpty(), MaxLength(32));
}

/** Proof that the user is present: a session that was left open or stolen is not enough. */
export class ProvesPassword {
  @TypedPassword()
  current_password: string;

  /** The second factor, if the user has one. */
  @Omittable()
  @FactorCode()
  code?: string;
}
