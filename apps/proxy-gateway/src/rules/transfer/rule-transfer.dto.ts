import { IMPORT_MODES } from '@gatehouse/contracts';
import type { ImportMode } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';
import { Omittable } from '../../wire/omittable.js';
import { OneLine } from '../../wire/one-line.js';

const RULE_EXPORT_FORMATS = ['json', 'text', 'txt', 'clash'] as const;
export type RuleExportFormat = (typeof RULE_EXPORT_FORMATS)[number];

const MAX_ENTRIES = 500_000;

export class RuleExportQuery {
  @Omittable()
  @IsIn(RULE_EXPORT_FORMATS)
  format?: RuleExportFormat;
}

export class RuleImportQuery {
  @IsOptional()
  @IsIn(['true', 'false'])
  allow_empty?: 'true' | 'false';

  @IsOptional()
  @IsIn(['true', 'false'])
  dry_run?: 'true' | 'false';
}

/** Either `text` or `rules`. */
export class RuleImportBody {
  /** `append` (default) or `replace`. */
  @Omittable()
  @IsIn(IMPORT_MODES)
  mode?: ImportMode;

  /** Rule lines, a Clash document with `rules:`, or an export of this service in any of its formats. */
  @Omittable()
  @IsString()
  text?: string;

  /** Rules as `POST /rules` takes them, or rule lines. Each is checked for itself. */
  @Omittable()
  // As they are: the transformer would copy each and look for types in it.
  @Transform(({ obj }: { obj: { rules?: unknown } }) => obj.rules)
  @IsArray()
  @ArrayMaxSize(MAX_ENTRIES)
  rules?: unknown[];

  /** Tells what would happen, and changes nothing. */
  @Omittable()
  @IsBoolean()
  dry_run?: boolean;

  /** Takes the place of targets that do not exist here. */
  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @OneLine()
  default_target?: string;
}
