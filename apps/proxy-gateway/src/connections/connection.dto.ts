import { IsIn, IsOptional } from 'class-validator';
import { QueryInteger } from '../wire/query-integer.js';
import { SORT_VALUES } from './sort-connections.js';

export class ConnectionQuery {
  /** Absent: all of them. */
  @QueryInteger({ min: 1, max: 500 })
  limit?: number;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;

  @IsOptional()
  @IsIn(SORT_VALUES)
  sort = '-start';
}
