import { API_KEY_SCOPES, THEMES } from '@gatehouse/contracts';
import type { ApiKeyScope, Theme } from '@gatehouse/contracts';
import { LANGUAGES, type Language } from '@gatehouse/i18n';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsISO8601,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  MinLength,
} from 'class-validator';
import { QueryInteger } from '../wire/query-integer.js';

export class LoginBody {
  @IsString()
  @IsNotEmpty()
  @MaxLength(1_024)
  password: string;
}

export class PasswordChangeBody {
  @IsString()
  @IsNotEmpty()
  @MaxLength(1_024)
  current_password: string;

  @IsString()
  @MinLength(8)
  @MaxLength(256)
  new_password: string;
}

export class PreferencesBody {
  @IsOptional()
  @IsIn(LANGUAGES)
  language?: Language;

  @IsOptional()
  @IsIn(THEMES)
  theme?: Theme;
}

export class ApiKeyQuery {
  @QueryInteger({ min: 1, max: 500 })
  limit = 500;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;
}

export class NewApiKeyBody {
  /** A label for people. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value))
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  @Matches(/^\P{Cc}*$/u, { message: 'name must not contain control characters' })
  name?: string;

  /**
   * Absent: all scopes. ArrayUnique is left out because its time grows with the square of the list, and a duplicate
   * does no harm.
   */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(API_KEY_SCOPES.length)
  @IsIn(API_KEY_SCOPES, { each: true })
  scopes?: ApiKeyScope[];

  /** RFC 3339 with an offset, in the future. Absent: the key never expires. */
  @IsOptional()
  @IsString()
  @Matches(/T.*(Z|[+-]\d{2}:?\d{2})$/i, {
    message: 'expires_at must be a time with its offset, such as 2030-01-01T00:00:00Z',
  })
  @IsISO8601({ strict: true, strictSeparator: true })
  expires_at?: string;
}
