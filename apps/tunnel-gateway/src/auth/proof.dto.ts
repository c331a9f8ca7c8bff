import { applyDecorators } from '@nestjs/common';
import { IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { Omittable } from '../wire/omittable.js';

/** A password that somebody types, whatever it is. */
export function TypedPassword(): PropertyDecorator {
  return applyDecorators(IsString(), IsNotEmpty(), MaxLength(256));
}

/** Six digits of an authenticator, or a recovery code. */
export function FactorCode(): PropertyDecorator {
  return applyDecorators(IsString(), IsNotEmpty(), MaxLength(32));
}

/** That it is really the user who asks: a login that was left open, or stolen, is not enough. */
export class ProvesPassword {
  @TypedPassword()
  current_password: string;

  /** Of the second factor, where the user has one. */
  @Omittable()
  @FactorCode()
  code?: string;
}
