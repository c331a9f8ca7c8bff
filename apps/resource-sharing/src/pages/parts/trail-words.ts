import { trail } from '../../messages/en/trail.js';
import type { Visitor } from '../../wire/visitor.js';
import { Html, markup } from './markup.js';

type TrailName = keyof typeof trail.trail;

/** An event or an action of the audit log in words, with its API name below. */
export function trailWords({ words }: Visitor, type: string): Html {
  const name = type.replaceAll(/[._]/g, '-');
  if (!Object.hasOwn(trail.trail, name)) return markup`<code>${type}</code>`;
  return markup`<span>${words.text(`trail.${name as TrailName}`)} <code class="second">${type}</code></span>`;
}
