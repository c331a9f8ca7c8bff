/** What a statement does, and to which table: a short name with few values. */
const SUMMARY = /^\s*(\w+)(?:[^']*?\b(?:FROM|INTO|UPDATE|JOIN|TABLE)\s+(?:ONLY\s+)?([\w."]+))?/i;
const UPDATE = /^\s*(UPDATE)\s+(?:ONLY\s+)?([\w."]+)/i;

/** Literals, which may be private data. Quoted names and comments match, too, so that a quote in them does not begin a literal. */
const LITERALS =
  /"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\b[eE]'(?:[^'\\]|''|\\[\s\S])*(?:'|$)|'(?:[^']|'')*(?:'|$)|\$(\w*)\$[\s\S]*?(?:\$\1\$|$)|(?<![\w$."])\d+(?:\.\d+)?\b/g;

/** More of a statement helps nobody. */
const LONGEST = 2_000;

/** A statement without values: literals become `?`, and comments disappear. Parameters such as `$1` are no values. */
export function withoutLiterals(text: string): string {
  const shown = text.replaceAll(LITERALS, (found) =>
    found.startsWith('"') ? found : found.startsWith('--') || found.startsWith('/*') ? '' : '?',
  );
  const short = shown.replaceAll(/\s+/g, ' ').trim();
  return short.length > LONGEST ? `${short.slice(0, LONGEST)}…` : short;
}

/** Such as `SELECT nodes`. */
export function summaryOf(text: string): string {
  const [, verb = '', table = ''] = UPDATE.exec(text) ?? SUMMARY.exec(text) ?? [];
  const name = table.replaceAll('"', '').split('.').at(-1) ?? '';
  return `${verb.toUpperCase()} ${name}`.trim().slice(0, 100);
}
