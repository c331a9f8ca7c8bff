import { protocolError } from '../errors.js';

/**
 * Reads a JSON object field by field. Every field that is read is checked and copied; others are ignored, so that a
 * newer peer may send more.
 */
export class Fields {
  private readonly values: Record<string, unknown>;
  private readonly path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw protocolError(`${path} is not an object`);
    }
    this.values = value as Record<string, unknown>;
    this.path = path;
  }

  /** @throws TunnelError `protocol` for anything but a JSON object in well-formed UTF-8. */
  static parse(body: Buffer, path: string): Fields {
    let value: unknown;
    try {
      value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    } catch (error) {
      throw protocolError(`${path} is not JSON`, error);
    }
    return new Fields(value, path);
  }

  integer(name: string, min: number, max: number): number {
    const value = this.get(name);
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) this.refuse(name);
    return value;
  }

  optionalInteger(name: string, min: number, max: number): number | null {
    return this.get(name) == null ? null : this.integer(name, min, max);
  }

  text(name: string, maxLength: number): string {
    const value = this.get(name);
    if (typeof value !== 'string' || value.length > maxLength) this.refuse(name);
    return value;
  }

  flag(name: string): boolean {
    const value = this.get(name);
    if (typeof value !== 'boolean') this.refuse(name);
    return value;
  }

  optionalFlag(name: string): boolean | null {
    return this.get(name) == null ? null : this.flag(name);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.get(name);
    return allowed.find((known) => known === value) ?? this.refuse(name);
  }

  list<T>(name: string, maxLength: number, read: (item: unknown, path: string) => T): T[] {
    const value = this.get(name);
    if (!Array.isArray(value) || value.length > maxLength) this.refuse(name);
    return value.map((item, index) => read(item, `${this.path}.${name}[${index}]`));
  }

  /** Null if the field is absent or null. */
  optional<T>(name: string, read: (item: unknown, path: string) => T): T | null {
    const value = this.get(name);
    return value == null ? null : read(value, `${this.path}.${name}`);
  }

  private get(name: string): unknown {
    return Object.hasOwn(this.values, name) ? this.values[name] : undefined;
  }

  private refuse(name: string): never {
    throw protocolError(`${this.path}.${name} is missing or not allowed`);
  }
}
