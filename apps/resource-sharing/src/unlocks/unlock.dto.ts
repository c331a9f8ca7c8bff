import { IgnoresUnknownFields, SchemaRule } from '@gatehouse/platform';
import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { openText } from '../messages/open-api.js';
import { SLUG } from '../shares/share-slug.js';
import { Enveloped } from '../wire/envelope.interceptor.js';
import type { UnlockedShare } from './unlocks.service.js';

@IgnoresUnknownFields()
@SchemaRule({ properties: { slug: { pattern: SLUG } } })
export class UnlockBody {
  /** UUID of the share, with or without hyphens. */
  @IsString()
  @MaxLength(64)
  slug: string;
}

/** A link that the caller can use. */
export class UnlockView {
  @ApiProperty({ type: String })
  url: string;
  @ApiProperty({ type: String, description: 'Empty if there is none' })
  access_code: string;
  @ApiProperty({ type: String, description: 'The link with its access code' })
  full_url: string;
  @ApiProperty({ type: Boolean, description: 'The caller already had access; nothing was paid' })
  already_owned: boolean;
}

/** Clients recognize the outcome by these texts. */
const MESSAGES = {
  own: 'open.alreadyOwned',
  owned: 'open.alreadyOwned',
  free: 'open.free',
  free_again: 'open.free',
  official: 'open.unlocked',
  weekly_free: 'open.unlocked',
  points: 'open.unlocked',
} as const satisfies Readonly<Record<UnlockedShare['outcome'], string>>;

export function toUnlockAnswer({ outcome, url, accessCode, fullUrl }: UnlockedShare): Enveloped {
  const owned = outcome === 'own' || outcome === 'owned' || outcome === 'free_again';
  const view: UnlockView = { url, access_code: accessCode, full_url: fullUrl, already_owned: owned };
  return new Enveloped(view, { message: openText(MESSAGES[outcome]) });
}
