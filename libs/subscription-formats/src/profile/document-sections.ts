import { isRecord } from '../clash/entry.js';
import { readYaml } from '../clash/yaml-package.js';
import { FormatError } from '../errors.js';
import { eachLine } from '../text/lines.js';

/** The values under the wanted keys of a document, and what else it holds. */
export interface DocumentSections {
  values: Map<string, unknown>;
  /** Keys whose values cannot be read. */
  unreadable: string[];
  /** All keys at the top. */
  keys: string[];
}

const TOP_KEY = /^(?:"([^"]+)"|'([^']+)'|([^\s#"'{}[\],&*!|>%@`-][^:#]*?))[ \t]*:(?:[ \t\r]|$)/;
/** An anchor, which values elsewhere may refer to. */
const ANCHOR = /(?:^|[\s[{,:-])&[^\s,[\]{}&]/;
const ALIAS = /(?:^|[\s[{,:-])(?:\*[^\s,[\]{}*]|<<["']?[ \t]*:)/;

interface Block {
  key: string;
  text: string;
}

/**
 * Reads the wanted sections of a Clash document. The lists of nodes and rules, which may be very long, are not read
 * unless a section refers to them. A section that is no YAML affects no other.
 */
export function readSections(text: string, wanted: readonly string[]): DocumentSections {
  if (/^\s*\{/.test(text)) return ofJson(text, wanted);
  const blocks = cutBlocks(text);
  const found = blocks.filter(({ key }) => wanted.includes(key));
  const sections: DocumentSections = {
    values: new Map(),
    unreadable: [],
    keys: blocks.filter((block) => !isAnchor(block)).map(({ key }) => key),
  };
  const needsAnchors = found.some((block) => ALIAS.test(block.text));
  const anchored = needsAnchors ? blocks.filter((block) => !found.includes(block) && ANCHOR.test(block.text)) : [];
  const whole = attempt([...anchored, ...found]);
  for (const block of found) {
    // One by one only if they cannot be read together.
    const value = (whole ?? attempt([block]))?.[block.key];
    if (value === undefined) sections.unreadable.push(block.key);
    else if (value !== null && value !== '') sections.values.set(block.key, value);
  }
  return sections;
}

/** `common: &common {…}`, which only other values refer to. */
function isAnchor({ text }: Block): boolean {
  return /^[^\s#][^#\n]*?:[ \t]*&/.test(text);
}

function attempt(blocks: readonly Block[]): Record<string, unknown> | undefined {
  try {
    const value = readYaml(blocks.map(({ text }) => text).join('\n'));
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

function ofJson(text: string, wanted: readonly string[]): DocumentSections {
  const sections: DocumentSections = { values: new Map(), unreadable: [], keys: [] };
  try {
    const document: unknown = JSON.parse(text);
    if (!isRecord(document)) return sections;
    sections.keys = Object.keys(document);
    for (const key of wanted) {
      if (Object.hasOwn(document, key) && document[key] !== null) sections.values.set(key, document[key]);
    }
  } catch {
    // Relaxed JSON: its nodes are read, the rest is not.
    sections.unreadable.push(...wanted.filter((key) => text.includes(`"${key}"`)));
  }
  return sections;
}

/** The values at the top, each with the lines below its key. */
function cutBlocks(text: string): Block[] {
  const blocks: { key: string; lines: string[] }[] = [];
  for (const line of eachLine(text)) {
    const key = TOP_KEY.exec(line);
    if (key) blocks.push({ key: (key[1] ?? key[2] ?? key[3] ?? '').trim(), lines: [line] });
    else if (!/^(?:---|\.\.\.|%)/.test(line)) blocks.at(-1)?.lines.push(line);
  }
  return blocks.map(({ key, lines }) => ({ key, text: lines.join('\n') }));
}
