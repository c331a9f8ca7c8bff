import { IMPORT_MODES } from '@gatehouse/contracts';
import type { ImportMode } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import { Omittable } from '../../wire/omittable.js';
import { EXPORT_FORMATS } from './write-export.js';
import type { ExportFormat } from './write-export.js';

/** As many as a subscription may contain. */
const MAX_NODES = 50_000;

/** Converts `true` and `false` of a query string; anything else stays a string and is refused. */
const flag = ({ value }: { value: unknown }): unknown => (value === 'true' ? true : value === 'false' ? false : value);

export class NodeExportQuery {
  /**
   * `links`: one share link per line. `text`, `txt`: the same, with nodes that no link can express as lines of JSON.
   */
  @IsOptional()
  @IsIn(EXPORT_FORMATS)
  format?: ExportFormat;
}

export class NodeImportQuery {
  /** Allows `replace` to leave no manual node at all. */
  @IsOptional()
  @Transform(flag)
  @IsBoolean()
  allow_empty?: boolean;

  /** Reports what would happen without changing anything. */
  @IsOptional()
  @Transform(flag)
  @IsBoolean()
  dry_run?: boolean;
}

export class NodeImportBody {
  /** `append` (default) adds and updates; `replace` also removes manual nodes that the import does not name. */
  @Omittable()
  @IsIn(IMPORT_MODES)
  mode?: ImportMode;

  /** Share links, base64 of them, Clash YAML, sing-box JSON, or an export of this service. */
  @Omittable()
  @IsString()
  text?: string;

  /** Items of the JSON export (`name`, `type`, `raw_config`), Clash entries or sing-box outbounds. */
  @Omittable()
  // The parsers check the items, with an error for each invalid one.
  @Transform(({ obj }: { obj: { nodes?: unknown } }) => obj.nodes)
  @IsArray()
  @ArrayMaxSize(MAX_NODES)
  nodes?: unknown[];

  @Omittable()
  @IsBoolean()
  dry_run?: boolean;
}
