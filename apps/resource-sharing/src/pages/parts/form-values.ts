import { AppError, validationFailure } from '@gatehouse/platform';
import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';

/** What a form holds: texts, of which a name may have several. */
export class FormValues {
  private readonly source: Readonly<Record<string, unknown>>;

  constructor(body: unknown) {
    this.source = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  }

  /** Empty when absent. */
  text(name: string): string {
    return this.list(name)[0] ?? '';
  }

  /** Without space around it; undefined when nothing is left. */
  optional(name: string): string | undefined {
    return this.text(name).trim() || undefined;
  }

  list(name: string): string[] {
    if (!Object.hasOwn(this.source, name)) return [];
    return [this.source[name]].flat().filter((value) => typeof value === 'string');
  }

  /** Words of a field, by line or comma. */
  words(name: string): string[] {
    return this.text(name)
      .split(/[\r\n,]+/)
      .map((word) => word.trim())
      .filter((word) => word !== '');
  }

  isChecked(name: string): boolean {
    return this.text(name) === 'true';
  }

  /** Undefined when empty; text that is no whole number stays NaN, for the rules to refuse. */
  wholeNumber(name: string): number | undefined {
    const text = this.optional(name);
    if (text === undefined) return undefined;
    return /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  }
}

/** A form under the rules of the REST interface; raises INVALID_ARGUMENT naming every bad field. */
export function validated<Body extends object>(type: Type<Body>, plain: Readonly<Record<string, unknown>>): Body {
  const body = plainToInstance(type, plain, { exposeUnsetFields: false });
  const errors = validateSync(body, { whitelist: true, forbidNonWhitelisted: true });
  if (errors.length > 0) throw validationFailure(errors, 'INVALID_ARGUMENT');
  return body;
}

/** What a form was refused for; undefined when it was not. What is no fault of the form is raised on. */
export async function refusalOf(work: () => Promise<void>): Promise<AppError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return error;
    throw error;
  }
}
