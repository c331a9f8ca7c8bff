import { ApiProperty } from '@nestjs/swagger';
import { IsInt, Max, Min, ValidateIf } from 'class-validator';
import { MAX_TEST_POINTS, type MadeUpShare } from '../test-mode/test-data.js';

export class TestPointsBody {
  @IsInt()
  @Min(0)
  @Max(MAX_TEST_POINTS)
  points: number;

  /** A test user of the application, or a user who has authorized it. Without it: the owner. */
  @ValidateIf((_, value: unknown) => value !== undefined)
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  user_id?: number;
}

export class TestShareView {
  @ApiProperty({ type: String, description: 'What comes of unlocking it', example: 'too_fast' })
  name: string;
  @ApiProperty({ type: String })
  slug: string;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Null: free' })
  points: number | null;
}

export function toTestShareView({ name, slug, price: points }: MadeUpShare): TestShareView {
  return { name, slug, points };
}
