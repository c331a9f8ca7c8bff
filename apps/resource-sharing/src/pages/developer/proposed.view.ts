import type { Application } from '../../applications/application-rows.js';
import { visibleName } from '../../applications/visible-name.js';
import type { Visitor } from '../../wire/visitor.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { card, facts } from '../parts/tables.js';

/** The change that is waiting for review; empty if there is none. */
export function proposedFacts({ words }: Visitor, { proposed }: Application, title: string): Content {
  if (proposed === null) return undefined;
  const { name, description, redirectUris } = proposed;
  const pairs: [string, Content][] = [];
  if (name !== undefined) pairs.push([words.text('common.name'), visibleName(name)]);
  if (description !== undefined) pairs.push([words.text('common.description'), description]);
  if (redirectUris !== undefined) pairs.push([words.text('fields.redirect_uris'), uriList(redirectUris)]);
  return card(title, facts(pairs));
}

export function uriList(uris: readonly string[]): Html[] {
  return uris.map((uri) => markup`<code>${uri}</code><br>`);
}
