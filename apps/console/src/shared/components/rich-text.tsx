import type { ComponentChildren } from 'preact';

/** For `<b>text</b>` in messages. */
export function bold(inside: ComponentChildren) {
  return <strong>{inside}</strong>;
}

/** For `<code>text</code>` in messages. */
export function code(inside: ComponentChildren) {
  return <code>{inside}</code>;
}

/** For `<name>text</name>` in messages: a link to another page of the console. */
export function linkTo(address: string) {
  return (inside: ComponentChildren) => <a href={address}>{inside}</a>;
}
