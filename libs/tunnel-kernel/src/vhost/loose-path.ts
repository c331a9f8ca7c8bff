/** Bound for nested escapes: no honest client needs more. */
const MAX_ROUNDS = 4;
/** Bound for the places along one path; `/a/..;/b` has two. */
const MAX_PLACES = 16;

/**
 * All places where a lenient target could see a path of `RequestTarget.path`. Such servers fold case and Unicode
 * compatibility forms, cut `;` parameters, `:` streams and trailing characters that Windows ignores, read `\` as `/`,
 * decode escapes again, and resolve dot segments that appear only then. Not every server does all of this, so every
 * place before a dot segment counts, too. Null: too ambiguous.
 */
export function loosePlaces(path: string): string[] | null {
  const text = decoded(path);
  if (text === null) return null;
  const places: string[] = [];
  const segments: string[] = [];
  let grew = true;
  for (const part of folded(text).split('/')) {
    const segment = (part.split(';', 1)[0] ?? '').trim();
    if (segment === '..') {
      if (grew) places.push(`/${segments.join('/')}`);
      if (places.length >= MAX_PLACES) return null;
      grew = false;
      segments.pop();
      continue;
    }
    const name = (segment.split(':', 1)[0] ?? '').replace(/[. ]+$/, '');
    if (name === '') continue;
    segments.push(name);
    grew = true;
  }
  return [...places, `/${segments.join('/')}`];
}

/** Decodes all escapes as UTF-8. Null if that does not terminate, and for invalid UTF-8. */
function decoded(path: string): string | null {
  let bytes = path;
  for (let round = 0; /%[0-9A-Fa-f]{2}/.test(bytes); round++) {
    if (round === MAX_ROUNDS) return null;
    bytes = bytes.replaceAll(/%[0-9A-Fa-f]{2}/g, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
  }
  // Overlong forms of ASCII are invalid UTF-8, but old servers accept them.
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return text.includes('\u{fffd}') ? null : text;
}

function folded(text: string): string {
  const plain = text.normalize('NFKC').toUpperCase().toLowerCase();
  // Some servers drop control characters.
  return plain.replaceAll(/\p{Cc}/gu, '').replaceAll('\\', '/');
}
