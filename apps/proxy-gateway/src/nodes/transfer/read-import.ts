import type { ImportError, ProxyNode } from '@gatehouse/contracts';
import { fingerprintNode, FormatError, parseRawConfig } from '@gatehouse/subscription-formats';
import type { ParsedSubscription } from '@gatehouse/subscription-formats';
import { mapInSlices } from '../in-slices.js';
import { isTagList, readCountryCode, tidyTags } from '../node-labels.js';

/** The position of an entry in the import. */
export interface EntryPlace {
  /** The position in `nodes` or in a JSON list, from 0; in other texts the number of entries before it. */
  index: number;
  /** The line in `text`, from 1; null for `nodes`. */
  line: number | null;
}

/** Fields of an entry beside its definition; absent fields leave the present values. */
export interface EntryLabels {
  enabled?: boolean;
  country?: string;
  tags?: string[];
}

export interface ImportEntry extends EntryPlace {
  node: ProxyNode;
  fingerprint: string;
  labels: EntryLabels;
  /** False for links and similar forms, which cannot express every option. */
  complete: boolean;
}

export interface ReadImport {
  format: string;
  /** Without duplicates by fingerprint. */
  entries: ImportEntry[];
  duplicates: (EntryPlace & { name: string; fingerprint: string })[];
  /** Entries that are not servers: messages, selectors, built-ins. */
  ignored: number;
  errors: ImportError[];
}

/** A text that contains nothing like a node. `message` may be shown to users. */
export class UnreadableImportError extends Error {
  override readonly name = 'UnreadableImportError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Parses a document, a long one outside the event loop. */
export interface TextParser {
  parse(content: Buffer, options: object): Promise<ParsedSubscription>;
}

type Plain = Record<string, unknown>;

const COMPLETE_FORMATS = new Set(['clash', 'sing-box']);

/** Reads all parts of one import, without duplicates. */
export class ImportReader {
  readonly read: ReadImport = { format: 'nodes', entries: [], duplicates: [], ignored: 0, errors: [] };
  readonly #seen = new Set<string>();
  readonly #parser: TextParser;

  constructor(parser: TextParser) {
    this.#parser = parser;
  }

  /** Reads objects in any of three forms: items of our own export, Clash entries, sing-box outbounds. */
  async addObjects(objects: readonly unknown[]): Promise<void> {
    let index = 0;
    await mapInSlices(objects, (value) => this.#addObject(value, { index: index++, line: null }));
  }

  /**
   * Reads any form of a subscription, or our own export as JSON or as text.
   * @throws UnreadableImportError for a document without any entries; FetchFailure for one that takes more time or
   * memory than any honest one.
   */
  async addText(text: string): Promise<void> {
    const own = ownItems(text);
    if (own !== null) {
      this.read.format = 'json';
      let index = 0;
      await mapInSlices(own, (value) => this.#addObject(value, { index, line: ++index }));
      return;
    }
    await this.#addDocument(text);
    numberByLine(this.read);
  }

  async #addDocument(text: string): Promise<void> {
    const { format, nodes, duplicates, infoNodes, ignored, skipped, error } = await this.#parser.parse(
      Buffer.from(text),
      {},
    );
    // A file of comments and blank lines is an empty list, not a broken one.
    if (error && error.code !== 'empty_document' && error.code !== 'no_entries') {
      throw new UnreadableImportError(error.code, error.message);
    }
    const { read } = this;
    read.format = format;
    const complete = COMPLETE_FORMATS.has(format);
    const ofLine = new Map(nodes.map(({ line, fingerprint }) => [line, fingerprint]));
    for (const { line, node, fingerprint } of nodes) {
      this.#add({ index: 0, line, node, fingerprint, labels: {}, complete });
    }
    for (const { line, name, of } of duplicates) {
      read.duplicates.push({ index: 0, line, name, fingerprint: ofLine.get(of)! });
    }
    read.ignored += infoNodes.length + ignored;
    for (const { line, reason, message, input } of skipped) {
      read.errors.push({ index: 0, line, code: reason, message, input });
    }
  }

  #addObject(value: unknown, place: EntryPlace): void {
    try {
      const node = nodeOf(value);
      const labels = labelsOf(value);
      this.#add({ ...place, node, fingerprint: fingerprintNode(node), labels, complete: true });
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      this.read.errors.push({ ...place, code: error.code, message: error.message, input: describe(value) });
    }
  }

  #add(entry: ImportEntry): void {
    const { fingerprint, index, line, node } = entry;
    if (this.#seen.has(fingerprint)) this.read.duplicates.push({ index, line, name: node.name, fingerprint });
    else this.read.entries.push(entry);
    this.#seen.add(fingerprint);
  }
}

/** The parsers count lines; users need the number of the entry, too. */
function numberByLine({ entries, duplicates, errors }: ReadImport): void {
  const places: EntryPlace[] = [...entries, ...duplicates, ...errors];
  places.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)).forEach((place, index) => (place.index = index));
}

/** The items of a JSON export, or the one entry of a text that is a single object; null for any other text. */
function ownItems(text: string): unknown[] | null {
  const start = text.trimStart();
  if (!start.startsWith('[') && !start.startsWith('{')) return null;
  const document = parseJson(start);
  if (isPlain(document)) return isEntry(document) ? [document] : null;
  if (!Array.isArray(document)) return null;
  return document.some((item) => isPlain(item) && typeof item['raw_config'] === 'string') ? document : null;
}

function isEntry(document: Plain): boolean {
  return typeof document['raw_config'] === 'string' || typeof document['type'] === 'string';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: other readers get a try.
    return undefined;
  }
}

function nodeOf(value: unknown): ProxyNode {
  if (!isPlain(value)) throw new FormatError('invalid_entry', 'the entry is no object');
  const raw = value['raw_config'];
  if (raw === undefined) return parseRawConfig('', JSON.stringify(value));
  if (typeof raw !== 'string') throw new FormatError('invalid_field', 'raw_config must be a text');
  const { name, type } = value;
  if (type !== undefined && typeof type !== 'string') throw new FormatError('invalid_field', 'type must be a text');
  const node = parseRawConfig(type ?? '', raw);
  return typeof name === 'string' && name.trim() !== '' ? { ...node, name: cleanName(name) } : node;
}

function cleanName(name: string): string {
  // The database cannot store an unpaired surrogate.
  const clean = name
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  if (clean.length > 200) throw new FormatError('invalid_field', 'name must be at most 200 characters');
  return clean;
}

/** Only items of our own export have labels; Clash entries and outbounds do not. */
function labelsOf(value: unknown): EntryLabels {
  if (!isPlain(value) || value['raw_config'] === undefined) return {};
  const { enabled, country, tags } = value;
  const labels: EntryLabels = {};
  if (enabled !== undefined) {
    if (typeof enabled !== 'boolean') throw new FormatError('invalid_field', 'enabled must be true or false');
    labels.enabled = enabled;
  }
  if (country !== undefined && country !== null) {
    const code = readCountryCode(country);
    if (code === null) throw new FormatError('invalid_field', 'country must be two letters (ISO 3166-1 alpha-2)');
    labels.country = code;
  }
  if (tags !== undefined) {
    if (!isTagList(tags)) throw new FormatError('invalid_field', 'tags must be a list of short texts');
    labels.tags = tidyTags(tags);
  }
  return labels;
}

/** A description of an unreadable entry that contains no credential. */
function describe(value: unknown): string {
  if (!isPlain(value)) return `(${value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value})`;
  const shown: Plain = {};
  for (const key of ['name', 'tag', 'type', 'server', 'port', 'server_port']) {
    const inner = value[key];
    if (typeof inner === 'string' || typeof inner === 'number') shown[key] = String(inner).slice(0, 60);
  }
  return JSON.stringify(shown).slice(0, 200);
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
