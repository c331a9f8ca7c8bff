import { TemplateFailure } from './template.js';

/** A document is written with each level indented. */
const MAX_DEPTH = 100;

/** Parses JSON with comments and commas before closing brackets, as sing-box takes it. @throws TemplateFailure with the line. */
export function parseJson(text: string): unknown {
  const plain = withoutExtensions(text);
  try {
    return JSON.parse(plain);
  } catch (cause) {
    const line = plain.slice(0, problemIn(plain)).split('\n').length;
    throw new TemplateFailure(line, 'the document is not valid JSON', { cause });
  }
}

/** With spaces in place of what is no JSON, so that positions stay. */
function withoutExtensions(text: string): string {
  const out: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = tokenEnd(text, at);
    const token = text.slice(at, end);
    const isComment = token.startsWith('//') || token.startsWith('/*') || token.startsWith('#');
    out.push(isComment ? token.replaceAll(/[^\n]/g, ' ') : token);
    at = end;
  }
  return closeLists(out);
}

/** The end of a text, a comment, or one character. */
function tokenEnd(text: string, start: number): number {
  const isOpened = text[start] === '"' || text.startsWith('/*', start);
  const pattern = text[start] === '"' ? STRING : COMMENT;
  pattern.lastIndex = start;
  // What is never closed goes to the end: looking for its end again and again would take the square of the time.
  if (pattern.exec(text) === null) return isOpened ? text.length : start + 1;
  return pattern.lastIndex;
}

const STRING = /"(?:[^"\\]|\\[^])*"/y;
const COMMENT = /\/\/[^\n]*|#[^\n]*|\/\*[^]*?\*\//y;

/** Takes out commas with nothing but a closing bracket behind them. @throws TemplateFailure */
function closeLists(tokens: string[]): string {
  let comma = -1;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > MAX_DEPTH) throw new TemplateFailure(null, 'the document nests too deep');
    if (token === ',') comma = index;
    else if ((token === '}' || token === ']') && comma !== -1) tokens[comma] = ' ';
    if (token !== ',' && token.trim() !== '') comma = -1;
  }
  return tokens.join('');
}

const TOKEN = /\s*("(?:[^"\\\n]|\\[^\n])*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:])/y;

/** Where a text stops being JSON: the runtime's errors do not always say it. */
function problemIn(text: string): number {
  const open: string[] = [];
  let wants = 'value';
  for (let at = 0; ;) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) return at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
    const next = after(token, wants, open);
    if (next === undefined) return TOKEN.lastIndex - token.length;
    wants = next;
    at = TOKEN.lastIndex;
  }
}

/** What may stand behind a token; undefined if the token may not stand where it does. */
function after(token: string, wants: string, open: string[]): string | undefined {
  const isClosing = token === (open.at(-1) === '{' ? '}' : ']') && open.length > 0;
  if (isClosing && (wants === 'end' || wants.endsWith('or end'))) {
    open.pop();
    return 'end';
  }
  if (wants === 'end') return token === ',' ? (open.at(-1) === '{' ? 'key' : 'value') : undefined;
  if (wants === 'colon') return token === ':' ? 'value' : undefined;
  if (wants.startsWith('key')) return token.startsWith('"') ? 'colon' : undefined;
  if (token === '{' || token === '[') {
    open.push(token);
    return token === '{' ? 'key or end' : 'value or end';
  }
  return /^[\]},:]/.test(token) ? undefined : 'end';
}
