import { ApiProperty } from '@nestjs/swagger';
import type { Caller } from '../credentials/caller.js';

export class PingView {
  @ApiProperty({ type: String, example: 'pong' })
  message: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Id of the application secret or personal key; null if a public application sent its token alone',
  })
  api_key_id: number | null;
  @ApiProperty({ type: String })
  name: string;
}

export function toPingView({ credentialId, credentialName }: Caller): PingView {
  return { message: 'pong', api_key_id: credentialId, name: credentialName };
}

export class QuotaView {
  @ApiProperty({ type: 'integer', description: 'Next midnight in the service’s time zone, in Unix seconds' })
  daily_reset: number;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Calls of this operation per day; null: no limit' })
  endpoint_limit: number | null;
  @ApiProperty({ type: 'integer', nullable: true })
  endpoint_remaining: number | null;
}
