import { IgnoresUnknownFields } from '@gatehouse/platform';
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsOptional } from 'class-validator';
import { openText } from '../messages/open-api.js';
import { Enveloped } from '../wire/envelope.js';
import type { CheckIn } from './check-ins.service.js';

@IgnoresUnknownFields()
export class CheckInBody {
  /** Draws from -3 to 30 instead of 4 to 10. */
  @IsOptional()
  @IsBoolean()
  is_gambler?: boolean | null;
}

export class CheckInView {
  @ApiProperty({ type: Boolean, description: 'False if the user has already checked in today' })
  checked_in: boolean;
  @ApiProperty({ type: String })
  message: string;
  @ApiProperty({
    type: 'integer',
    description: 'Points won or, below 0, lost; 0 if the user has already checked in today',
  })
  points: number;
  @ApiProperty({ type: 'integer', minimum: 0 })
  balance: number;
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Consecutive days with a check-in' })
  streak: number;
}

export function toCheckInAnswer(result: CheckIn): Enveloped {
  const { checkedIn, points, balance, streak } = result;
  const message = messageOf(result);
  const view: CheckInView = { checked_in: checkedIn, message, points, balance, streak };
  return new Enveloped(view, { message });
}

function messageOf({ checkedIn, points, doubled }: CheckIn): string {
  if (!checkedIn) return openText('open.checkedInBefore');
  if (points < 0) return openText('open.checkInLost', { points: -points });
  return openText(doubled ? 'open.checkInDoubled' : 'open.checkInWon', { points });
}
