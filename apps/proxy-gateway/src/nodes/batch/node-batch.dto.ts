import { NODE_BATCH_ACTIONS } from '@gatehouse/contracts';
import type { NodeBatchAction } from '@gatehouse/contracts';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn, IsInt, Max, Min } from 'class-validator';

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
}
