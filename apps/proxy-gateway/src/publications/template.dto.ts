import { TEMPLATE_TARGETS, type TemplateTarget } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsNotEmpty, IsString, Max, MaxLength, Min } from 'class-validator';
import { Omittable } from '../wire/omittable.js';
import { OneLine } from '../wire/one-line.js';
import { trimmed } from '../wire/trimmed.js';

const MAX_TEXT = 512 * 1024;

export class NewPublicationTemplate {
  @Transform(trimmed)
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  @OneLine()
  name: string;

  @IsIn(TEMPLATE_TARGETS)
  target: TemplateTarget;

  /** A configuration of the target's program, with groups and rules. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_TEXT)
  text: string;
}

/** Fields that are left out stay unchanged. */
export class PublicationTemplateChanges {
  @Omittable()
  @Transform(trimmed)
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  @OneLine()
  name?: string;

  @Omittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_TEXT)
  text?: string;
}

export class PublicationTemplatePreviewRequest {
  @IsIn(TEMPLATE_TARGETS)
  target: TemplateTarget;

  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_TEXT)
  text: string;

  /** The publication whose nodes are put in; absent: every enabled node. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  publication_id?: number;
}
