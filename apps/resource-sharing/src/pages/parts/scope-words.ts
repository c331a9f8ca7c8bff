import { OPEN_SCOPES, type OpenScope } from '../../credentials/caller.js';
import type { Choice } from './forms.js';

/** What a scope lets an application do, for its users to read. */
export const SCOPE_WORDS: Readonly<Record<OpenScope, { readonly label: string; readonly hint: string }>> = {
  meta: { label: 'Limits and usage', hint: 'See how much of its limits is used.' },
  query: { label: 'Look up resources', hint: 'Find shares and see what unlocking them would cost you.' },
  unlock: { label: 'Unlock resources', hint: 'Spend your points or your free unlocks to read links.' },
  write: { label: 'Share in your name', hint: 'Make, change and take back your shares.' },
  vip: { label: 'Profile and Premium', hint: 'See your profile and points, check in daily, use what Premium gives.' },
};

export function scopeChoices(scopes: readonly OpenScope[] = OPEN_SCOPES): Choice[] {
  return scopes.map((value) => ({ value, ...SCOPE_WORDS[value] }));
}
