import { TypedPassword } from '@gatehouse/platform';
import {
  IsBoolean,
  IsEmail,
  IsNotEmpty,
  IsOptional,
  IsString,
  Length,
  Matches,
  MaxLength,
  MinLength,
  ValidateIf,
} from 'class-validator';

/** Minimum length of a password of a new account. */
export const MIN_PASSWORD_LENGTH = 10;

/** A name that cannot be confused with a number, a deleted account or one of the demo data. */
function Username(): PropertyDecorator {
  const message =
    'username must have 3 to 32 letters, digits, dots, dashes and underscores, and begin with a letter, not with demo-';
  return (target, property) => {
    IsString()(target, property);
    // Without the flag i, which a pattern of the interface description cannot have.
    Matches(/^(?![Dd][Ee][Mm][Oo]-)[A-Za-z][A-Za-z0-9._-]{2,31}$/, { message })(target, property);
  };
}

function NewPassword(): PropertyDecorator {
  return (target, property) => {
    IsString()(target, property);
    MinLength(MIN_PASSWORD_LENGTH)(target, property);
    MaxLength(256)(target, property);
    Matches(/^(?!(.{1,4}?)\1+$)/s, { message: `${String(property)} must not repeat a single pattern` })(
      target,
      property,
    );
  };
}

/** Six digits of an authenticator app, or a recovery code. */
function FactorCode(): PropertyDecorator {
  return (target, property) => {
    IsString()(target, property);
    IsNotEmpty()(target, property);
    MaxLength(32)(target, property);
  };
}

/** The code of the second factor beside a password: not null, and absent for accounts without one. */
export function OptionalFactorCode(): PropertyDecorator {
  return (target, property) => {
    ValidateIf((_, value: unknown) => value !== undefined)(target, property);
    FactorCode()(target, property);
  };
}

export class SiteLoginBody {
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  username: string;

  @TypedPassword()
  password: string;

  /** For accounts with a second factor. */
  @OptionalFactorCode()
  code?: string;
}

/** Proof that the owner of the account is present. */
export class ProofBody {
  @TypedPassword()
  current_password: string;

  /** For accounts with a second factor. */
  @OptionalFactorCode()
  code?: string;
}

export class SecondFactorCodeBody {
  /** Six digits of the authenticator app. */
  @FactorCode()
  code: string;
}

export class RegistrationBody {
  @Username()
  username: string;

  @IsOptional()
  @IsEmail()
  @MaxLength(254)
  email?: string | null;

  @NewPassword()
  password: string;
}

export class PasswordChangeBody extends ProofBody {
  @NewPassword()
  new_password: string;

  /** Whether personal API keys are revoked as well. Default: true. */
  @ValidateIf((_, value: unknown) => value !== undefined)
  @IsBoolean()
  revoke_keys?: boolean;
}

export class ProfileChangeBody {
  @ValidateIf((_, value: unknown) => value !== undefined)
  @IsString()
  @Length(1, 40)
  @Matches(/^\P{C}*$/u, { message: 'nickname must not contain control characters' })
  @Matches(/\S/, { message: 'nickname must not be blank' })
  nickname?: string;

  @IsOptional()
  @IsEmail()
  @MaxLength(254)
  email?: string | null;

  @IsOptional()
  @IsString()
  @MaxLength(500)
  @Matches(/^https:\/\/[^\s"'<>\\]+$/, { message: 'avatar_url must be an https address' })
  avatar_url?: string | null;
}

export class AccountDeletionBody {
  @TypedPassword()
  password: string;

  /** For accounts with a second factor. */
  @OptionalFactorCode()
  code?: string;
}

/** What a link in a mail ends with. */
function LinkToken(): PropertyDecorator {
  return (target, property) => {
    IsString()(target, property);
    IsNotEmpty()(target, property);
    MaxLength(200)(target, property);
  };
}

export class EmailVerificationBody {
  @LinkToken()
  token: string;
}

export class PasswordResetRequestBody {
  /** Username or email address. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(254)
  @Matches(/^[^\p{Cc}]*$/u, { message: 'account must not contain control characters' })
  account: string;
}

export class PasswordResetBody {
  @LinkToken()
  token: string;

  @NewPassword()
  new_password: string;
}
