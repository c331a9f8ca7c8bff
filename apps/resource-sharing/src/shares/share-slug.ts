const SLUG = /^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** The slug as 32 hex digits, whether it was sent with or without hyphens; undefined if it is not one. */
export function parseSlug(text: string): string | undefined {
  return SLUG.test(text) ? text.replaceAll('-', '').toLowerCase() : undefined;
}
