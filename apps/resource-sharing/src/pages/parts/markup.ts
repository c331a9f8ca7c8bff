/** HTML. Only markup`` builds it from parts, so that all user text is escaped. */
export class Html {
  constructor(readonly text: string) {}
}

/** Allowed between the parts of a template; empty values, including booleans, render nothing. */
export type Content = Html | string | number | boolean | null | undefined | readonly Content[];

/** HTML with its values escaped, for element content and for attribute values in double quotes. */
export function markup(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(strings.map((text, index) => text + (index < values.length ? render(values[index]) : '')).join(''));
}

export function render(value: Content): string {
  if (value instanceof Html) return value.text;
  if (value === null || value === undefined || typeof value === 'boolean') return '';
  return typeof value === 'object' ? value.map(render).join('') : escapeText(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  // Control and direction characters could make one text look like another.
  return text
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
    .replaceAll(/(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/** For `<b>text</b>` in messages. */
export function bold(inside: Content): Html {
  return markup`<strong>${inside}</strong>`;
}

/** For `<code>text</code>` in messages. */
export function code(inside: Content): Html {
  return markup`<code>${inside}</code>`;
}

/** For `<a>text</a>` in messages. */
export function linkTo(address: string): (inside: Content) => Html {
  return (inside) => markup`<a href="${address}">${inside}</a>`;
}
