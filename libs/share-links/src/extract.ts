import { DRIVES } from './kinds/drives.js';

/** A link in a text, with the words around it. */
export interface Candidate {
  /** From the first character of the link to the next link or the end. */
  readonly text: string;
  /** What stands before the only link of a text; empty where there are several. */
  readonly before: string;
}

/** Zero-width characters, marks of direction and the soft hyphen. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const START = /(?:https?:\/\/|magnet:\?|ed2k:\/\/(?:\||%7c))/gi;

const knownHosts = DRIVES.flatMap(({ hosts }) => hosts)
  .map((host) => host.replace(/^\./, '').replaceAll('.', String.raw`\.`))
  .join('|');
/** A known host without a scheme, where no other name or address runs into it. */
const BARE_HOST = new RegExp(String.raw`(?<![\w.@/:=%&?#-])(?:www\.|share\.|h5\.)?(?:${knownHosts})/`, 'i');

/** In compatibility form (full-width letters become plain ones), without what cannot be seen, `&amp;` decoded. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(/&(?:amp;)+/gi, '&')
    .trim();
}

/** Every link of a cleaned text, in order. */
export function findCandidates(text: string): Candidate[] {
  const starts = startsOf(text);
  if (starts.length === 0) return bareCandidates(text);
  return starts.map((start, index) => ({
    text: cutSeparator(text.slice(start, starts[index + 1])),
    before: starts.length === 1 ? text.slice(0, start) : '',
  }));
}

function startsOf(text: string): number[] {
  const starts: number[] = [];
  let previous = 0;
  // Something that no address contains stands between the last link and here.
  let separated = true;
  for (const { index } of text.matchAll(START)) {
    separated ||= SEPARATOR.test(text.slice(previous, index));
    previous = index;
    if (!separated && isArgument(text, index)) continue;
    starts.push(index);
    separated = false;
  }
  return starts;
}

const SEPARATOR = /[\s\u0080-\u{10ffff}]/u;

/** An address within an address is its argument, not another link: `?u=https://…`, `/https://…`. */
function isArgument(text: string, index: number): boolean {
  return /[=/?&#]/.test(text[index - 1] ?? '');
}

/** `$$$` stands between glued links. */
function cutSeparator(text: string): string {
  const at = text.indexOf('$$$');
  return at < 0 ? text : text.slice(0, at);
}

function bareCandidates(text: string): Candidate[] {
  const match = BARE_HOST.exec(text);
  return match === null
    ? []
    : [{ text: cutSeparator(`https://${text.slice(match.index)}`), before: text.slice(0, match.index) }];
}
