import { ApiProperty } from '@nestjs/swagger';

const NULLABLE_OBJECT = { type: 'object', nullable: true, additionalProperties: true } as const;

/** A page of the audit log; its rows are those of all services (`AuditLogView` of the contracts). */
export class AuditLogPageView {
  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } })
  items: object[];
  @ApiProperty({ type: 'integer' })
  total: number;
  @ApiProperty({ type: 'integer' })
  limit: number;
  @ApiProperty({ type: 'integer' })
  offset: number;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Send it as `cursor` to get the next page; null on the last page',
  })
  next_cursor: string | null;
}

export class AuditVerificationView {
  @ApiProperty({ type: Boolean })
  ok: boolean;
  @ApiProperty({ type: 'integer', description: 'Rows checked' })
  checked: number;
  @ApiProperty({ type: 'integer' })
  first_id: number;
  @ApiProperty({ type: 'integer' })
  last_id: number;
  @ApiProperty({ type: String })
  last_hash: string;
  @ApiProperty({ ...NULLABLE_OBJECT, description: 'First row at which the chain is broken: `id` and `reason`' })
  broken: object | null;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Result of the comparison with the copy outside the database',
  })
  witness: object;
  @ApiProperty({ type: 'integer' })
  duration_ms: number;
}
