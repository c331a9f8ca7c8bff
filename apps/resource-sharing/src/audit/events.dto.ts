import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { wholeNumber } from '../wire/whole-number.js';

export class OwnEventsQuery {
  /** A type, or the prefix of several: `app.` */
  @IsOptional()
  @IsString()
  @MaxLength(60)
  type?: string;

  /** Id of the last event that was read. */
  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  before?: number;

  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(500)
  limit = 100;
}

export class EventsQuery extends OwnEventsQuery {
  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  user_id?: number;

  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  application_id?: number;
}
