import { frame } from '../../messages/en/frame.js';
import { trail } from '../../messages/en/trail.js';
import type { Visitor } from '../../wire/visitor.js';
import { Html, markup } from './markup.js';

type TrailName = keyof typeof trail.trail;
type DetailName = keyof typeof trail.trailDetails;
type FieldName = keyof typeof frame.fields;

/** An event or an action of the audit log in words, with its API name below. */
export function trailWords({ words }: Visitor, type: string): Html {
  const name = type.replaceAll(/[._]/g, '-');
  if (!Object.hasOwn(trail.trail, name)) return markup`<code>${type}</code>`;
  return markup`<span>${words.text(`trail.${name as TrailName}`)} <code class="second">${type}</code></span>`;
}

/** What a detail of an event is called: by its label where a form has it, too. */
export function detailName({ words }: Visitor, name: string): string {
  const field = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (Object.hasOwn(trail.trailDetails, field)) return words.text(`trailDetails.${field as DetailName}`);
  if (Object.hasOwn(frame.fields, field)) return words.text(`fields.${field as FieldName}`);
  return name;
}
