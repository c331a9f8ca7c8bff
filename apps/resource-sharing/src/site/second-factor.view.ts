import type { FactorState } from '@gatehouse/auth';
import { ApiProperty } from '@nestjs/swagger';
import type { FactorEnrolment } from './own-factor.js';

export class SecondFactorView {
  @ApiProperty({ enum: ['off', 'pending', 'on'], description: '`pending`: being set up, logins do not ask for it yet' })
  state: FactorState['state'];
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  since: string | null;
  @ApiProperty({ type: 'integer', description: 'Recovery codes that still work' })
  recovery_codes_left: number;
}

export class SecondFactorEnrolmentView {
  @ApiProperty({ type: String, description: 'Base32, for apps in which it is typed' })
  secret: string;
  @ApiProperty({ type: String, description: 'For a QR code' })
  otpauth_uri: string;
}

export class SecondFactorCodesView {
  @ApiProperty({ type: [String], description: 'Each replaces one code of the authenticator app. Shown only now' })
  recovery_codes: string[];
}

export function toSecondFactorView({ state, since, codesLeft }: FactorState): SecondFactorView {
  return { state, since: since?.toISOString() ?? null, recovery_codes_left: codesLeft };
}

export function toEnrolmentView({ secret, uri }: FactorEnrolment): SecondFactorEnrolmentView {
  return { secret, otpauth_uri: uri };
}
