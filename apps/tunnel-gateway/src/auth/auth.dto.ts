import { THEMES, type Theme } from '@gatehouse/contracts';
import { LANGUAGES, type Language } from '@gatehouse/i18n';
import { TypedPassword } from '@gatehouse/platform';
import { IsBoolean, IsIn, IsString, MaxLength, MinLength } from 'class-validator';
import { ChosenPassword } from '../users/password-rules.js';
import { UserName } from '../users/user-name.js';
import { Omittable } from '../wire/omittable.js';
import { FactorCode, ProvesPassword } from './proof.dto.js';

export class LoginBody {
  @IsString()
  @MinLength(1)
  @MaxLength(128)
  username: string;

  @TypedPassword()
  password: string;

  /** The second factor, if the user has one: six digits of an authenticator, or a recovery code. */
  @Omittable()
  @FactorCode()
  code?: string;

  /**
   * Whether to set the session token as a cookie, too. Browsers send cookies to every port of a name, so tunnels get
   * it.
   */
  @Omittable()
  @IsBoolean()
  cookie?: boolean;
}

export class SetupBody {
  /** The service wrote it to a file at its first start. */
  @IsString()
  @MinLength(1)
  @MaxLength(128)
  token: string;

  @UserName()
  username: string;

  @ChosenPassword()
  password: string;
}

export class PasswordChangeBody extends ProvesPassword {
  @ChosenPassword()
  new_password: string;

  /** Whether API keys are revoked as well. */
  @Omittable()
  @IsBoolean()
  revoke_keys?: boolean;
}

export class TotpCodeBody {
  /** A code of the authenticator. */
  @FactorCode()
  code: string;
}

export class PreferencesBody {
  @Omittable()
  @IsIn(LANGUAGES)
  language?: Language;

  @Omittable()
  @IsIn(THEMES)
  theme?: Theme;
}
