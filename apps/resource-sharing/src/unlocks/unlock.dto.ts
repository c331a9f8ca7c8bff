import { IgnoresUnknownFields, SchemaRule } from '@gatehouse/platform';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, Matches, MaxLength, ValidateIf } from 'class-validator';
import { openText } from '../messages/open-api.js';
import { SLUG } from '../shares/share-slug.js';
import { Enveloped } from '../wire/envelope.js';
import type { UnlockAttempt } from './unlock-batches.js';
import type { UnlockedShare } from './unlocks.service.js';

/** Shares that one request may name. */
const MOST_SLUGS = 20;

@IgnoresUnknownFields()
@SchemaRule({
  anyOf: [
    { required: ['slug'], properties: { slug: { type: 'string' } } },
    { required: ['slugs'], properties: { slugs: { type: 'array', items: { type: 'string' } } } },
  ],
  properties: { slug: { pattern: SLUG }, slugs: { items: { type: 'string', maxLength: 64, pattern: SLUG } } },
})
export class UnlockBody {
  /** UUID of the share, with or without hyphens. */
  @ApiPropertyOptional({ type: String, maxLength: 64 })
  @ValidateIf(({ slug, slugs }: UnlockBody) => slug !== undefined || slugs === undefined)
  @IsString()
  @MaxLength(64)
  slug?: string;

  /** Several shares, in the order in which they are paid. Ignored beside `slug`. */
  @ApiPropertyOptional({ type: [String], minItems: 1, maxItems: MOST_SLUGS })
  @ValidateIf(({ slugs }: UnlockBody) => slugs !== undefined)
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_SLUGS)
  @IsString({ each: true })
  @Matches(new RegExp(SLUG), { each: true, message: 'slugs must be UUIDs, with or without hyphens' })
  slugs?: string[];
}

/** What became of one of several shares. */
export class UnlockItemView {
  @ApiProperty({ type: String, description: '32 hex digits' })
  slug: string;
  @ApiProperty({ type: Boolean })
  success: boolean;
  @ApiProperty({ type: String, description: '200, or the error code that the share alone would be answered with' })
  code: string;
  @ApiProperty({ type: String })
  message: string;
  @ApiProperty({ type: String, description: 'Empty without success, like the next two' })
  url: string;
  @ApiProperty({ type: String })
  access_code: string;
  @ApiProperty({ type: String })
  full_url: string;
  @ApiProperty({ type: Boolean, description: 'The caller already had access; nothing was paid' })
  already_owned: boolean;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    minimum: 1,
    description: 'When a repeat makes sense; null without a limit',
  })
  retry_after_seconds: number | null;
}

/** A link that the caller can use. */
export class UnlockView {
  @ApiProperty({ type: String, description: 'Empty for `slugs`, like the next two' })
  url: string;
  @ApiProperty({ type: String, description: 'Empty if there is none' })
  access_code: string;
  @ApiProperty({ type: String, description: 'The link with its access code' })
  full_url: string;
  @ApiProperty({ type: Boolean, description: 'The caller already had access; nothing was paid' })
  already_owned: boolean;
  @ApiPropertyOptional({ type: [UnlockItemView], description: 'Only for `slugs`: each share once, in their order' })
  items?: UnlockItemView[];
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

/** True for the outcomes that changed nothing. */
const isOwned = ({ outcome }: UnlockedShare): boolean =>
  outcome === 'own' || outcome === 'owned' || outcome === 'free_again';

export function toUnlockAnswer(unlocked: UnlockedShare): Enveloped {
  const { url, accessCode, fullUrl } = unlocked;
  const view: UnlockView = { url, access_code: accessCode, full_url: fullUrl, already_owned: isOwned(unlocked) };
  return new Enveloped(view, { message: messageOf(unlocked) });
}

const messageOf = ({ outcome }: UnlockedShare): string => openText(MESSAGES[outcome]);

/** The members of a single unlock are there, too, so that every answer has them; the links are in the items. */
export function toUnlockAnswers(attempts: readonly UnlockAttempt[]): Enveloped {
  const items = attempts.map(toItem);
  const done = items.filter(({ success }) => success);
  const owned = done.length === items.length && done.every(({ already_owned }) => already_owned);
  const view: UnlockView = { url: '', access_code: '', full_url: '', already_owned: owned, items };
  const message = openText('open.unlockedSome', { done: done.length, count: items.length });
  return new Enveloped(view, { message });
}

function toItem({ slug, unlocked, refusal }: UnlockAttempt): UnlockItemView {
  if (unlocked !== undefined) {
    const { url, accessCode, fullUrl } = unlocked;
    const link = { url, access_code: accessCode, full_url: fullUrl, already_owned: isOwned(unlocked) };
    return { slug, success: true, code: '200', message: messageOf(unlocked), ...link, retry_after_seconds: null };
  }
  const code = refusal.code === 'NOT_FOUND' ? '404' : refusal.code;
  return {
    slug,
    success: false,
    code,
    message: openText(REFUSALS[refusal.code as keyof typeof REFUSALS]),
    url: '',
    access_code: '',
    full_url: '',
    already_owned: false,
    retry_after_seconds: refusal.retryAfterSeconds ?? null,
  };
}

/** What one share can be refused for, and the others not. */
const REFUSALS = {
  NOT_FOUND: 'open.noShare',
  INSUFFICIENT_POINTS: 'open.tooFewPoints',
  RATE_LIMIT_EXCEEDED: 'open.tooFast',
  RISK_BLOCKED: 'open.blocked',
} as const;
