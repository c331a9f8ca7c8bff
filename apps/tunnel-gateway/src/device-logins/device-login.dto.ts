import { TypedPassword } from '@gatehouse/platform';
import { IsBoolean, IsNotEmpty, IsString, Matches, MaxLength } from 'class-validator';
import { FactorCode } from '../auth/proof.dto.js';
import { Omittable } from '../wire/omittable.js';
import { Line } from '../wire/text-fields.js';

/** What a machine says about itself. */
export class DeviceLoginBody {
  /** The name of the machine, which its user compares and the API key is called by. */
  @Line(64)
  // Invisible characters would let a machine look like another one.
  @Matches(/^\P{Cf}*$/u, { message: '$property must not contain control or broken characters' })
  machine: string;
}

export class DeviceTokenBody {
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  device_code: string;
}

export class UserCodeBody {
  /** As people type it: capitals, hyphens and spaces do not matter. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(32)
  user_code: string;
}

export class DeviceDecisionBody extends UserCodeBody {
  @IsBoolean()
  approved: boolean;

  /** Needed to approve: a session that was left open or stolen is not enough. */
  @Omittable()
  @TypedPassword()
  current_password?: string;

  /** The second factor, if the user has one. */
  @Omittable()
  @FactorCode()
  code?: string;
}
