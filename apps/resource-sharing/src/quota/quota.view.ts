import { ApiProperty } from '@nestjs/swagger';
import type { Caller } from '../credentials/caller.js';

export class PingView {
  @ApiProperty({ type: String, example: 'pong' })
  message: string;
  @ApiProperty({ type: 'integer', description: 'Of the application secret or personal key' })
  api_key_id: number;
  @ApiProperty({ type: String })
  name: string;
}

export function toPingView({ credentialId, credentialName }: Caller): PingView {
  return { message: 'pong', api_key_id: credentialId, name: credentialName };
}

export class QuotaView {
  @ApiProperty({ type: 'integer', description: 'Unix seconds of the next midnight of the service' })
  daily_reset: number;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Calls of this operation a day; null: no limit' })
  endpoint_limit: number | null;
  @ApiProperty({ type: 'integer', nullable: true })
  endpoint_remaining: number | null;
}
