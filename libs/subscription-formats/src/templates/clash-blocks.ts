import { eachLine } from '../text/lines.js';

/** A value at the top of a document, with the lines that belong to it. */
export interface TopBlock {
  /** Empty for what stands before the first one. */
  key: string;
  /** Of its key, from 1. */
  line: number;
  lines: string[];
}

const TOP_KEY = /^(?:"([^"]+)"|'([^']+)'|([^\s#"'{}[\],&*!|>%@`-][^:#]*?))[ \t]*:(?:[ \t\r]|$)/;
/** Characters of a line that are looked at for a key. */
const MAX_KEY = 400;
const ITEM = /^( *)-(?:[ \t]|$)/;

/** Cuts a YAML document at the keys of its top. All lines together are the document. */
export function cutTopBlocks(text: string): TopBlock[] {
  const blocks: TopBlock[] = [{ key: '', line: 1, lines: [] }];
  let number = 0;
  for (const line of eachLine(text)) {
    number += 1;
    const key = TOP_KEY.exec(line.slice(0, MAX_KEY));
    if (key) blocks.push({ key: (key[1] ?? key[2] ?? key[3] ?? '').trim(), line: number, lines: [line] });
    else blocks.at(-1)?.lines.push(line);
  }
  return blocks;
}

/** What stands behind the key on its line, without a comment. */
export function valueBehindKey({ key, lines }: TopBlock): string {
  const [first = ''] = lines;
  return first
    .slice(first.indexOf(':', key.length) + 1)
    .replace(/(?:^|[ \t])#.*$/, '')
    .trim();
}

/** The spaces before the dashes of a list; undefined for a block that is no list with dashes. */
export function dashIndent(block: TopBlock): string | undefined {
  if (valueBehindKey(block) !== '') return undefined;
  const first = block.lines.slice(1).find((line) => line.trim() !== '' && !/^\s*#/.test(line));
  return first === undefined ? undefined : ITEM.exec(first)?.[1];
}

/** Whether a value is a list without items, or none. */
export function isEmptyBlock(block: TopBlock): boolean {
  const rest = block.lines.slice(1).filter((line) => line.trim() !== '' && !/^\s*#/.test(line));
  return rest.length === 0 && /^(?:\[[ \t]*\]|~|null|)$/.test(valueBehindKey(block));
}
