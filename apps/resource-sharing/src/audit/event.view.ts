import { ApiProperty } from '@nestjs/swagger';
import type { AuditEntry } from './audit-trail.js';

export class SiteEventView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  type: string;
  @ApiProperty({ type: 'integer', nullable: true, description: 'User whom the event is about' })
  user_id: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: 'User who acted, if it was not this user' })
  actor_id: number | null;
  @ApiProperty({ type: 'integer', nullable: true })
  application_id: number | null;
  @ApiProperty({ type: 'integer', nullable: true })
  credential_id: number | null;
  @ApiProperty({ type: 'integer', nullable: true })
  grant_id: number | null;
  @ApiProperty({ type: String, nullable: true })
  ip: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true })
  details: object;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
}

export function toSiteEventView(entry: AuditEntry): SiteEventView {
  return {
    id: entry.id,
    type: entry.type,
    user_id: entry.userId,
    actor_id: entry.actorId,
    application_id: entry.applicationId,
    credential_id: entry.credentialId,
    grant_id: entry.grantId,
    ip: entry.ip,
    details: entry.details,
    created_at: entry.at.toISOString(),
  };
}
