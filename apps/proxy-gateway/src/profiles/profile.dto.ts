import { IsInt, Max, Min, ValidateIf } from 'class-validator';

export class ActiveProfile {
  /** The subscription whose profile drives the rules; null: none, only rules that were made here. */
  @ValidateIf((_body, value) => value !== null)
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  subscription_id: number | null;
}
