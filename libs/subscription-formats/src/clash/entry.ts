import { FormatError, invalid, missing } from '../errors.js';
import { readCount, readSwitch } from '../fields.js';

/** Typed access to one mapping of a Clash document. Values have their types (JSON) or are texts (YAML). */
export class ClashEntry {
  private readonly values: Record<string, unknown>;
  private readonly prefix: string;

  constructor(values: Record<string, unknown>, prefix = '') {
    this.values = values;
    this.prefix = prefix;
  }

  /** Text of a scalar; undefined when absent, null or empty. */
  text(...keys: string[]): string | undefined {
    for (const key of keys) {
      const value = this.own(key);
      if (value === undefined || value === '') continue;
      if (typeof value === 'string') return value;
      if (typeof value === 'number' || typeof value === 'boolean') return String(value);
      throw invalid(this.fieldName(key), 'a text');
    }
    return undefined;
  }

  required(key: string): string {
    const value = this.text(key);
    if (value === undefined) throw missing(this.fieldName(key));
    return value;
  }

  flag(key: string): boolean | undefined {
    return readSwitch(this.own(key), this.fieldName(key));
  }

  count(key: string): number | undefined {
    return readCount(this.own(key), this.fieldName(key));
  }

  /** A list of texts; one text counts as a list of one. */
  list(key: string): string[] | undefined {
    const value = this.own(key);
    if (value === undefined || value === '') return undefined;
    const items: unknown[] = Array.isArray(value) ? value : [value];
    return items.map((item) => this.item(key, item));
  }

  private item(key: string, item: unknown): string {
    if (typeof item === 'string') return item;
    if (typeof item === 'number' || typeof item === 'boolean') return String(item);
    throw invalid(this.fieldName(key), 'a list of texts');
  }

  /** A nested mapping. An absent one is read as empty. */
  map(key: string): ClashEntry {
    const value = this.own(key);
    if (value === undefined || value === '') return new ClashEntry({}, this.fieldName(key));
    if (!isRecord(value)) throw invalid(this.fieldName(key), 'a mapping');
    return new ClashEntry(value, this.fieldName(key));
  }

  has(key: string): boolean {
    const value = this.own(key);
    return value !== undefined && value !== '';
  }

  keys(): string[] {
    return Object.keys(this.values).filter((key) => key !== '__proto__' && this.own(key) !== undefined);
  }

  raw(key: string): unknown {
    return this.own(key);
  }

  fieldName(key: string): string {
    return this.prefix === '' ? key : `${this.prefix}.${key}`;
  }

  private own(key: string): unknown {
    if (!Object.hasOwn(this.values, key)) return undefined;
    const value = this.values[key];
    // YAML scalars are texts here; a plain `~` or `null` means null.
    return value === null ? undefined : value;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asEntry(value: unknown): ClashEntry {
  if (!isRecord(value)) throw new FormatError('invalid_entry', 'an entry must be a mapping of options');
  return new ClashEntry(value);
}
