import { IsIn, IsIP, IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';
import { OneLine } from '../wire/one-line.js';
import { QueryInteger } from '../wire/query-integer.js';
import { SORT_VALUES } from './sort-connections.js';

const MAX_ID = 999_999_999_999_999;

/** Selects connections that match every field given. */
export class ConnectionFilter {
  /** Text in the host, an address, the rule, the user, or the name of a node or group in the chain; case is ignored. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @OneLine()
  search?: string;

  /** A node anywhere in the chain. */
  @QueryInteger({ min: 1, max: MAX_ID })
  node_id?: number;

  @QueryInteger({ min: 1, max: MAX_ID })
  rule_id?: number;

  /** The rule as `TYPE,payload`, or `TYPE` for one without a payload; `none`: no rule matched. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(2_100)
  @OneLine()
  rule?: string;

  /** The name at the end of the chain: a node or a built-in. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(300)
  node?: string;

  /** The client's address. */
  @IsOptional()
  @IsIP()
  source_ip?: string;

  /** A group in the chain. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(300)
  group?: string;

  /** The name of the listener that the client connected to. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  inbound?: string;

  /** The name of a kernel. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(300)
  kernel?: string;

  @IsOptional()
  @IsIn(['tcp', 'udp'])
  network?: 'tcp' | 'udp';
}

export class ConnectionQuery extends ConnectionFilter {
  /** Absent: no limit. */
  @QueryInteger({ min: 1, max: 500 })
  limit?: number;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;

  @IsOptional()
  @IsIn(SORT_VALUES)
  sort = '-start';
}
