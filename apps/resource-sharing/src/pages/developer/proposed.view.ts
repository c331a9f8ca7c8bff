import type { Application } from '../../applications/application-rows.js';
import { visibleName } from '../../applications/visible-name.js';
import { Html, markup } from '../parts/markup.js';
import { facts } from '../parts/tables.js';

/** The change that waits for a review; nothing when there is none. */
export function proposedFacts({ proposed }: Application, title: string): Html {
  if (proposed === null) return markup``;
  const { name, description, redirectUris } = proposed;
  return markup`<h2>${title}</h2>
${facts([
  ...(name === undefined ? [] : [['Name', visibleName(name)] as const]),
  ...(description === undefined ? [] : [['About it', description] as const]),
  ...(redirectUris === undefined
    ? []
    : [['Redirect addresses', redirectUris.map((uri) => markup`<code>${uri}</code><br>`)] as const]),
])}`;
}
