import { applyDecorators } from '@nestjs/common';
import { IsString, MaxLength, MinLength } from 'class-validator';
import { fieldError } from '../wire/field-error.js';
import { isKnownPassword } from './known-passwords.js';

/** A new password. */
export function ChosenPassword(): PropertyDecorator {
  return applyDecorators(IsString(), MinLength(8), MaxLength(256));
}

/** @throws AppError VALIDATION_FAILED for a password that is easily guessed. */
export function refuseGuessable(field: string, password: string, username: string): void {
  if (isKnownPassword(password)) throw fieldError(field, 'is too common');
  if (password.toLowerCase() === username.toLowerCase()) throw fieldError(field, 'must not be the user name');
}
