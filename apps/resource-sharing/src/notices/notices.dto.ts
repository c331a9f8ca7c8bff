import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional, Max, Min } from 'class-validator';
import { QueryId, wholeNumber } from '../wire/whole-number.js';

export class NoticesQuery {
  /** Only those that are not read yet. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  unread?: boolean;

  /** Id of the last notice that was read. */
  @QueryId()
  before?: number;

  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(200)
  limit = 50;
}

export class ReadNoticesBody {
  @ApiProperty({
    type: 'integer',
    required: false,
    nullable: true,
    minimum: 1,
    description: 'Id of the newest one; absent: all',
  })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  up_to?: number;
}
