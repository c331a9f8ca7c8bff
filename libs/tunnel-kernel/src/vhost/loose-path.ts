/** Escapes in escapes in escapes: nobody means more. */
const MAX_ROUNDS = 4;
/** Places on the way of one path, as `/a/..;/b` has two. */
const MAX_PLACES = 16;

/**
 * Where a target that is generous with spellings could see a path, as of `RequestTarget.path`: folding case and Unicode
 * compatibility forms, cutting `;` parameters, `:` streams and what Windows cuts from the end of a name, taking `\` for `/`,
 * decoding escapes again, and resolving dot segments that show only then. Not all do all of it, so that each place that a
 * path goes through before a dot segment counts. Null: too odd to say.
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

/** All escapes decoded, as UTF-8. Null where that does not end, and for what is not UTF-8. */
function decoded(path: string): string | null {
  let bytes = path;
  for (let round = 0; /%[0-9A-Fa-f]{2}/.test(bytes); round++) {
    if (round === MAX_ROUNDS) return null;
    bytes = bytes.replaceAll(/%[0-9A-Fa-f]{2}/g, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
  }
  // Overlong forms of ASCII are not UTF-8 either, and old servers take them.
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return text.includes('\u{fffd}') ? null : text;
}

function folded(text: string): string {
  const plain = text.normalize('NFKC').toUpperCase().toLowerCase();
  // Some servers drop control characters.
  return plain.replaceAll(/\p{Cc}/gu, '').replaceAll('\\', '/');
}
