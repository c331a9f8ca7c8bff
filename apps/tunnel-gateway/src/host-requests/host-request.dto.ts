import { IsIP, IsOptional, IsString, Matches } from 'class-validator';
import { PageQuery, SearchText } from '../wire/page-query.js';

/** A record's id, in a path and as a cursor. */
export const REQUEST_ID = /^[0-9a-f]{28}$/;

export class HostRequestFilter extends PageQuery {
  /** A part of path and query. */
  @SearchText()
  q?: string;

  @IsOptional()
  @IsString()
  @Matches(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/, { message: 'method must be a method of HTTP' })
  method?: string;

  /** `404`, `4xx`, or `failed`: incomplete, or answered by the gateway in place of the target. */
  @IsOptional()
  @IsString()
  @Matches(/^(?:[1-5](?:\d\d|xx)|failed)$/, { message: 'status must be 404, 4xx, failed or the like' })
  status?: string;

  /** The address of a visitor. */
  @IsOptional()
  @IsIP()
  visitor_ip?: string;
}
