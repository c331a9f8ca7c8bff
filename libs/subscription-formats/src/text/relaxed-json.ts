const NAME = /[A-Za-z_$][A-Za-z0-9_$-]*/y;
const SPACE = /\s*/y;
const LITERALS = new Set(['true', 'false', 'null']);

/**
 * Converts JSON5 (comments, trailing commas, single quotes, names without quotes) to JSON. Undefined for text that is clearly
 * neither; `JSON.parse` must check the result. Takes time proportional to the length.
 */
export function toStrictJson(text: string): string | undefined {
  const out: string[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at]!;
    if (character === '"' || character === "'") {
      const end = closingQuote(text, at);
      if (end === -1) return undefined;
      out.push(character === '"' ? text.slice(at, end + 1) : doubleQuoted(text.slice(at + 1, end)));
      at = end + 1;
    } else if (character === '/' || character === '#') {
      const end = endOfComment(text, at);
      if (end === -1) return undefined;
      at = end;
    } else if (character === ',') {
      at = skipBlank(text, at + 1);
      if (text[at] !== '}' && text[at] !== ']') out.push(',');
    } else {
      const word = matchAt(NAME, text, at);
      const token = word === '' ? plainRun(text, at) : word;
      out.push(word === '' || LITERALS.has(word) ? token : JSON.stringify(word));
      at += token.length;
    }
  }
  return out.join('');
}

/** Numbers, punctuation and white space, up to the next character that needs conversion. */
function plainRun(text: string, start: number): string {
  let end = start + 1;
  // An exponent belongs to its number.
  while (end < text.length && !/["'/#,A-Za-z_$]/.test(text[end]!)) end += 1;
  if (/[\d.]$/.test(text[end - 1]!) && /^[eE][+-]?\d/.test(text.slice(end, end + 3))) end += 2;
  return text.slice(start, end);
}

function closingQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === text[start]) return at;
  }
  return -1;
}

function doubleQuoted(body: string): string {
  return `"${body.replace(/\\'|"|\\[^]/g, (found) => (found === '"' ? '\\"' : found === "\\'" ? "'" : found))}"`;
}

/** Where the text continues after a comment that begins at `start`; -1 if none does. */
function endOfComment(text: string, start: number): number {
  if (text[start] === '#' || text[start + 1] === '/') {
    const end = text.indexOf('\n', start);
    return end === -1 ? text.length : end;
  }
  if (text[start + 1] !== '*') return -1;
  const end = text.indexOf('*/', start + 2);
  return end === -1 ? -1 : end + 2;
}

function skipBlank(text: string, start: number): number {
  let at = start;
  for (;;) {
    at += matchAt(SPACE, text, at).length;
    if (text[at] !== '/' && text[at] !== '#') return at;
    const end = endOfComment(text, at);
    if (end === -1) return at;
    at = end;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
