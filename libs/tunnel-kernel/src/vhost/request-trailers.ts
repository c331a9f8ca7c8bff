/**
 * What may not follow a body: fields that say where the message ends, whom it is for, how it is to be acted upon or who asks
 * (RFC 9110 6.5.1), and what the gateway alone says of visitors.
 */
const FORBIDDEN =
  /^(?::.*|.*_.*|host|transfer-encoding|trailer|te|connection|keep-alive|proxy-.*|upgrade|http2-settings|expect|max-forwards|cache-control|pragma|range|if-.*|content-.*|authorization|cookie|set-cookie|forwarded|x-forwarded-.*|x-real-ip|via|date)$/;
const MAX_FIELDS = 64;

/**
 * The fields after a request's body as its target gets them. `raw`, `head`: name, value, name, value … What the head says already
 * is not said anew: the gateway, or the host's owner, may have set it. `withheld`: what was taken out of the head.
 */
export function requestTrailers(
  raw: readonly string[],
  head: readonly string[],
  withheld: (name: string) => boolean,
): Record<string, string[]> {
  const trailers = Object.create(null) as Record<string, string[]>;
  if (raw.length === 0) return trailers;
  const said = new Set(head.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
  for (let at = 0; at + 1 < raw.length && at < 2 * MAX_FIELDS; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    if (!FORBIDDEN.test(name) && !said.has(name) && !withheld(name)) (trailers[name] ??= []).push(raw[at + 1] ?? '');
  }
  return trailers;
}
