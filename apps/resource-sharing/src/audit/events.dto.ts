import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { QueryId, wholeNumber } from '../wire/whole-number.js';

export class OwnEventsQuery {
  /** A type, or the prefix of several: `app.` */
  @IsOptional()
  @IsString()
  @MaxLength(60)
  type?: string;

  /** Id of the last event that was read. */
  @QueryId()
  before?: number;

  @IsOptional()
  @Transform(wholeNumber)
  @IsInt()
  @Min(1)
  @Max(500)
  limit = 100;
}

export class EventsQuery extends OwnEventsQuery {
  @QueryId()
  user_id?: number;

  @QueryId()
  application_id?: number;
}
