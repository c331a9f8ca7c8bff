import { applyDecorators } from '@nestjs/common';
import { IsString, MaxLength, MinLength } from 'class-validator';
import { fieldError } from '../wire/field-error.js';

/** What everybody tries first, and what examples say. */
const KNOWN = new Set([
  '12345678',
  '123456789',
  '1234567890',
  'admin123',
  'administrator',
  'changeit',
  'changeme',
  'change-me',
  'gatehouse',
  'iloveyou',
  'letmein1',
  'password',
  'password1',
  'passw0rd',
  'qwertyui',
  'qwertyuiop',
  'secret123',
]);

/** A password that somebody chooses. */
export function ChosenPassword(): PropertyDecorator {
  return applyDecorators(IsString(), MinLength(8), MaxLength(256));
}

export function isKnownPassword(password: string): boolean {
  return KNOWN.has(password.toLowerCase());
}

/** @throws AppError VALIDATION_FAILED for what is guessed first. */
export function refuseGuessable(field: string, password: string, username: string): void {
  if (isKnownPassword(password)) throw fieldError(field, 'is one that everybody tries first');
  if (password.toLowerCase() === username.toLowerCase()) throw fieldError(field, 'must not be the user name');
}
