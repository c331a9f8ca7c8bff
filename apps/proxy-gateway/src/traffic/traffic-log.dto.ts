import { IsOptional, Matches, MaxLength } from 'class-validator';
import { QueryInteger } from '../wire/query-integer.js';

export class TrafficLogQuery {
  /** Part of the host, address, node name, rule, client address or user of the proxy; case is ignored. */
  @IsOptional()
  @MaxLength(200)
  @Matches(/^\P{Cc}*$/u, { message: 'keyword must not contain control characters' })
  keyword?: string;

  @QueryInteger({ min: 1, max: 500 })
  limit = 50;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;

  /** `next_cursor` of the previous page; any depth costs the same. Not together with `offset`. */
  @IsOptional()
  // Fifteen digits of milliseconds reach the year 33658; sixteen may exceed the range of Date.
  @Matches(/^\d{1,15}-\d{1,16}$/, { message: 'cursor must be a next_cursor of this list' })
  cursor?: string;
}
