import { RUNTIME_LOG_LEVELS, RUNTIME_LOG_SOURCES } from '@gatehouse/contracts';
import type { RuntimeLogSource } from '@gatehouse/contracts';
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { QueryInteger } from '../wire/query-integer.js';

export class RuntimeLogFilter {
  /** This level and higher ones. */
  @IsIn(RUNTIME_LOG_LEVELS)
  level: (typeof RUNTIME_LOG_LEVELS)[number] = 'debug';

  @Omittable()
  @IsIn(RUNTIME_LOG_SOURCES)
  source?: RuntimeLogSource;

  /** Part of the message or of the context; case is ignored. */
  @Omittable()
  @IsString()
  @OneLine()
  @MaxLength(200)
  search?: string;

  /** The lines that one request caused. */
  @Omittable()
  @IsString()
  @OneLine()
  @MaxLength(100)
  request_id?: string;
}

export class RuntimeLogQuery extends RuntimeLogFilter {
  @QueryInteger({ min: 1, max: 500 })
  limit = 50;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;

  /** `next_cursor` of the previous page. */
  @Omittable()
  @Matches(/^\d{1,15}$/, { message: 'cursor must be a next_cursor of this list' })
  cursor?: string;
}
