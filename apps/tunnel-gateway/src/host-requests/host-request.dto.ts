import { IsIP, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { HeaderMap } from '../hosts/host.dto.js';
import { Omittable } from '../wire/omittable.js';
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

export class ReplayBody {
  /** The request to send again. */
  @IsString()
  @Matches(REQUEST_ID, { message: 'request_id must be the id of a request' })
  request_id: string;

  /** Path and query in place of those that were recorded. */
  @Omittable()
  @IsString()
  @MaxLength(8_192)
  @Matches(/^\/[\x21-\x7e]*$/, { message: 'path must begin with a slash and be in ASCII, without spaces' })
  path?: string;

  /** Header fields to set, such as those that were masked; an empty value leaves the field out. */
  @Omittable()
  @HeaderMap()
  headers?: Record<string, string>;

  /** A text in place of the body that was recorded. */
  @Omittable()
  @IsString()
  @MaxLength(65_536)
  body?: string;
}
