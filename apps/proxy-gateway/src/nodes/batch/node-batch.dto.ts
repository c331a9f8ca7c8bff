import { NODE_BATCH_ACTIONS } from '@gatehouse/contracts';
import type { NodeBatchAction } from '@gatehouse/contracts';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { isTextList, MAX_TAG_LENGTH, MAX_TAGS, tidyTags } from '../node-labels.js';

export const MAX_BATCH = 500;

export class NodeBatchBody {
  @IsIn(NODE_BATCH_ACTIONS)
  action!: NodeBatchAction;

  /** A node that is named twice counts once. */
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(MAX_BATCH)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(Number.MAX_SAFE_INTEGER, { each: true })
  ids!: number[];

  /** For `tag` and `untag`: what is added to each node, or removed from it. */
  @ValidateIf(({ action }: NodeBatchBody) => action === 'tag' || action === 'untag')
  @Transform(({ value }: { value: unknown }) => (isTextList(value) ? tidyTags(value) : value))
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(MAX_TAGS)
  @IsString({ each: true })
  @MaxLength(MAX_TAG_LENGTH, { each: true })
  @Matches(/^\P{Cc}*$/u, { each: true, message: 'tags must not contain control characters' })
  tags?: string[];
}
