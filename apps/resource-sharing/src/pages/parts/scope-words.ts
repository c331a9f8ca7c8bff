import { OPEN_SCOPES } from '../../credentials/caller.js';
import type { GrantScope } from '../../credentials/grant-scopes.js';
import type { Visitor } from '../../wire/visitor.js';
import type { Choice } from './forms.js';
import { markup, type Html } from './markup.js';

/** What each scope allows, in words for users. */
export function scopeChoices({ words }: Visitor, scopes: readonly GrantScope[] = OPEN_SCOPES): Choice[] {
  return scopes.map((value) => ({
    value,
    label: words.text(`scopes.${value}`),
    hint: words.text(`scopes.${value}Hint`),
  }));
}

/** Scopes in words, in as many lines as they need. */
export function scopeNames({ words }: Visitor, scopes: readonly GrantScope[]): Html {
  return markup`<span class="wrapped">${scopes.map((scope) => words.text(`scopes.${scope}`)).join(', ')}</span>`;
}
