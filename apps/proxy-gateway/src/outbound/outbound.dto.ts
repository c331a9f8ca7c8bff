import { IsIn, IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';

export const CLOSE_CHOICES = ['none', 'group', 'all'] as const;
export type CloseChoice = (typeof CLOSE_CHOICES)[number];

export class SwitchGroup {
  /** `n12`, a node's name if no other has it, a group, `DIRECT`, `REJECT` or `REJECT-DROP`; a member of the group. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(300)
  proxy: string;
}

export class SwitchQuery {
  /** Which open connections end with the switch; absent: the setting `switch.close_connections`. */
  @IsOptional()
  @IsIn(CLOSE_CHOICES)
  close_connections?: CloseChoice;
}

export class DefaultPolicy {
  /** A group, `n12`, a node's name if no other has it, `DIRECT`, `REJECT` or `REJECT-DROP`. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(300)
  policy: string;
}
