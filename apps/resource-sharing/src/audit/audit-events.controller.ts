import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { CurrentUserId } from '../applications/current-user.js';
import { ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.interceptor.js';
import { AuditTrail, type RecordedEvent } from './audit-trail.service.js';

export class AuditEventsQuery {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  before?: number;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit?: number;
}

/** An event as its user sees it. */
export class AuditEventView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  type: string;
  @ApiProperty({ type: String, nullable: true })
  ip: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true })
  details: Readonly<Record<string, unknown>>;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
}

@ApiTags('audit')
@Controller('api/site/audit-events')
export class AuditEventsController {
  constructor(private readonly trail: AuditTrail) {}

  @Get()
  @ApiOperation({ summary: 'What happened to this account, newest first' })
  @ApiEnvelopeList(AuditEventView)
  async list(@CurrentUserId() userId: number, @Query() { before, limit }: AuditEventsQuery): Promise<Enveloped> {
    const events = await this.trail.list({ userId, before, limit });
    return new Enveloped(events.map(toView), { total: events.length });
  }
}

function toView({ id, type, ip, details, createdAt }: RecordedEvent): AuditEventView {
  return { id, type, ip, details, created_at: createdAt.toISOString() };
}
