/** A UUID with or without hyphens; the source of a pattern, for the interface description as well. */
export const SLUG = '^(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$';

const PATTERN = new RegExp(SLUG);

/** The slug as 32 hex digits, whether it was sent with or without hyphens; undefined if it is not one. */
export function parseSlug(text: string): string | undefined {
  return PATTERN.test(text) ? text.replaceAll('-', '').toLowerCase() : undefined;
}
