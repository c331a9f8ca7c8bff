import type { ImportReport, Outcome, Place } from './import-report.js';

/** Deeper than any configuration is. */
const MAX_DEPTH = 16;
const SHOWN_TEXT = 64;
/** The reason for settings without a specific one. */
const UNKNOWN = 'the gateway has no such setting';

/** A line that was read, and what it becomes. */
export interface Leaf extends Place {
  as: string;
}

/** Ports in a row. */
export interface Ports {
  first: number;
  count: number;
}

/** Why settings cannot be imported, by name or by `*`. */
export type Reasons = Readonly<Record<string, string>>;

/** The fields of a table or object. Tracks which ones were read, and reports the others at the end. */
export class Fields {
  readonly place: Place;
  /** The fields that were read. */
  readonly leaves: Leaf[];
  private readonly values: Readonly<Record<string, unknown>>;
  private readonly report: ImportReport;
  private readonly seen = new Set<string>();

  /** `leaves`: of the enclosing table. */
  constructor(value: unknown, place: Place, report: ImportReport, leaves: Leaf[] = []) {
    this.place = place;
    this.report = report;
    this.leaves = leaves;
    this.values = isTable(value) ? value : {};
    if (!isTable(value)) this.refuse('', 'must be a table of settings');
  }

  has(name: string): boolean {
    return Object.hasOwn(this.values, name);
  }

  /** Whether it has one range of ports such as `6000-6010`. */
  isRange(name: string): boolean {
    const value = this.has(name) ? this.values[name] : undefined;
    return typeof value === 'string' && readPorts(value) !== undefined;
  }

  text(name: string, as: string): string | undefined {
    return this.read(name, as, 'text', (value) => (typeof value === 'string' ? value : undefined));
  }

  /** A non-empty text. */
  filled(name: string, as: string): string | undefined {
    const text = this.text(name, as)?.trim();
    return text === '' ? undefined : text;
  }

  integer(name: string, as: string): number | undefined {
    return this.read(name, as, 'a whole number', (value) =>
      typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined,
    );
  }

  /** A port, or several in a row as a text such as `6000-6010`. */
  ports(name: string, as: string): Ports | undefined {
    return this.read(name, as, 'a port, or a range such as 6000-6010', (value) => {
      if (typeof value === 'string') return readPorts(value);
      return typeof value === 'number' && Number.isSafeInteger(value) ? { first: value, count: 1 } : undefined;
    });
  }

  flag(name: string, as: string): boolean | undefined {
    return this.read(name, as, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined));
  }

  texts(name: string, as: string): string[] {
    const found = this.read(name, as, 'a list of texts', (value) =>
      Array.isArray(value) && value.every((each) => typeof each === 'string') ? (value as string[]) : undefined,
    );
    return found ?? [];
  }

  textMap(name: string, as: string): Record<string, string> {
    const found = this.read(name, as, 'a table of texts', (value) =>
      isTable(value) && Object.values(value).every((each) => typeof each === 'string')
        ? (value as Record<string, string>)
        : undefined,
    );
    return { ...found };
  }

  /** The table of this name, or an empty one. Fields read from it are tracked here. */
  table(name: string): Fields {
    this.seen.add(name);
    return new Fields(this.has(name) ? (this.values[name] ?? {}) : {}, this.placeOf(name), this.report, this.leaves);
  }

  /** The same; undefined if it is absent or empty. */
  tableOrNothing(name: string): Fields | undefined {
    this.seen.add(name);
    return this.has(name) && this.values[name] !== null ? this.table(name) : undefined;
  }

  tables(name: string): Fields[] {
    this.seen.add(name);
    const value = this.has(name) ? this.values[name] : [];
    if (!Array.isArray(value)) {
      this.refuse(name, 'must be a list of tables');
      return [];
    }
    return value.map((each, index) => new Fields(each, this.placeOf(`${name}[${index}]`), this.report));
  }

  /** Reports every field that was not read, with the reason. `isUnset`: whether a value counts as not set. */
  rest(reasons: Reasons = {}, isUnset: (value: unknown) => boolean = () => false): void {
    for (const [name, value] of Object.entries(this.values)) {
      if (this.seen.has(name) || isUnset(value)) continue;
      this.seen.add(name);
      visitLeaves(value, this.placeOf(name), 0, (place) =>
        this.report.add('no_counterpart', place, own(reasons, name) ?? reasons['*'] ?? UNKNOWN),
      );
    }
  }

  /** Reports a field that was read but cannot be imported. */
  without(name: string, reason: string): void {
    this.seen.add(name);
    this.report.add('no_counterpart', this.placeOf(name), reason);
  }

  /** Reports a field that was imported but works differently here. */
  note(name: string, reason: string): void {
    this.report.add('no_counterpart', this.placeOf(name), reason);
  }

  record(outcome: Outcome, place: Place, message: string): void {
    this.report.add(outcome, place, message);
  }

  refuse(name: string, reason: string): void {
    this.seen.add(name);
    this.report.add('refused', name === '' ? this.place : this.placeOf(name), reason);
  }

  private read<T>(
    name: string,
    as: string,
    expected: string,
    convert: (value: unknown) => T | undefined,
  ): T | undefined {
    this.seen.add(name);
    const value = this.has(name) ? this.values[name] : undefined;
    if (value === undefined || value === null) return undefined;
    const converted = convert(value);
    if (converted === undefined) this.refuse(name, `must be ${expected}`);
    else this.leaves.push({ ...this.placeOf(name), as });
    return converted;
  }

  private placeOf(name: string): Place {
    const { file, path } = this.place;
    return { file, path: path === '' ? shown(name) : `${path}.${shown(name)}` };
  }
}

/** A map's own value, for names from files, which may collide with names that every object has. */
export function own<T>(map: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
  return name !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
}

/** `6000-6010`; undefined for anything else. */
export function readPorts(text: string): Ports | undefined {
  const [, first, last] = /^\s*(\d{1,5})\s*-\s*(\d{1,5})\s*$/.exec(text) ?? [];
  const count = Number(last) - Number(first) + 1;
  return first !== undefined && count >= 1 ? { first: Number(first), count } : undefined;
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Names are part of the path of each line below them. */
function shown(name: string): string {
  return name.length > SHOWN_TEXT ? `${name.slice(0, SHOWN_TEXT)}…` : name;
}

/** Visits every line of a nested value. */
function visitLeaves(value: unknown, place: Place, depth: number, say: (place: Place) => void): void {
  const inner: [string, unknown][] = Array.isArray(value)
    ? value.filter(isTable).map((each, index) => [`[${index}]`, each])
    : isTable(value)
      ? Object.entries(value).map(([name, each]) => [`.${shown(name)}`, each])
      : [];
  if (inner.length === 0 || depth >= MAX_DEPTH) return say(place);
  for (const [name, each] of inner) visitLeaves(each, { ...place, path: `${place.path}${name}` }, depth + 1, say);
}
