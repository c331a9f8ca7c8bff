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

  /** Rules in the form of `POST /rules`, or rule lines. Each is checked on its own. */
  @Omittable()
  // Without conversion: the transformer would copy and inspect each of them.
  @Transform(({ obj }: { obj: { rules?: unknown } }) => obj.rules)
  @IsArray()
  @ArrayMaxSize(MAX_ENTRIES)
  rules?: unknown[];

  /** Reports what would happen without changing anything. */
  @Omittable()
  @IsBoolean()
  dry_run?: boolean;

  /** Replaces targets that do not exist here. */
  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @OneLine()
  default_target?: string;
}
