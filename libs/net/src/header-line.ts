const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// oxlint-disable-next-line no-control-regex
const BROKEN = /[\u0000\r\n]/;

/**
 * Reads one header field (RFC 9112 5): the name in lower case, the value without the spaces around it. Null for a line that
 * is not a field, and for a value with CR, LF or NUL. Spaces are not matched by a regular expression, which could backtrack.
 */
export function readHeaderLine(line: string): { name: string; value: string } | null {
  const colon = line.indexOf(':');
  if (colon < 1 || BROKEN.test(line)) return null;
  const name = line.slice(0, colon);
  if (!NAME.test(name)) return null;
  let [start, end] = [colon + 1, line.length];
  while (start < end && isSpace(line, start)) start += 1;
  while (end > start && isSpace(line, end - 1)) end -= 1;
  return { name: name.toLowerCase(), value: line.slice(start, end) };
}

function isSpace(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t';
}
