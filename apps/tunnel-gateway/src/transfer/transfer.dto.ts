import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { Omittable } from '../wire/omittable.js';
import { Line, RowId } from '../wire/text-fields.js';

export const IMPORT_FORMATS = ['frp', 'nps'] as const;
const MAX_FILES = 64;
/** Characters of one file: some thousand tunnels. */
const MAX_TEXT = 2_000_000;

export class ImportFileBody {
  @Line(255)
  name: string;

  @IsString()
  @MaxLength(MAX_TEXT)
  text: string;
}

export class ImportBody {
  /** `frp`: TOML of 0.52 and later. `nps`: clients.json, tasks.json and hosts.json. */
  @IsIn(IMPORT_FORMATS)
  format: (typeof IMPORT_FORMATS)[number];

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_FILES)
  @ValidateNested({ each: true })
  @Type(() => ImportFileBody)
  @ApiProperty({ type: [ImportFileBody] })
  files: ImportFileBody[];

  /** Reports what would be created, and creates nothing. */
  @Omittable()
  @IsBoolean()
  dry_run?: boolean;

  /** All tunnels and hosts are created for this client, and no client is created. */
  @Omittable()
  @RowId()
  client_id?: number;
}

export class ExportQuery {
  /** `true`: includes hashes of passwords and keys, so that they work after a restore. Requires a login, not a key. */
  @IsOptional()
  @IsIn(['true', 'false'])
  hashes?: 'true' | 'false';
}
