import { AppError, validationFailure } from '@gatehouse/platform';
import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';

/** The values of a form: texts, several of which can have the same name. */
export class FormValues {
  private readonly source: Readonly<Record<string, unknown>>;

  constructor(body: unknown) {
    this.source = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  }

  /** Empty when absent. */
  text(name: string): string {
    return this.list(name)[0] ?? '';
  }

  /** Trimmed; undefined if it is empty. */
  optional(name: string): string | undefined {
    return this.text(name).trim() || undefined;
  }

  list(name: string): string[] {
    if (!Object.hasOwn(this.source, name)) return [];
    return [this.source[name]].flat().filter((value) => typeof value === 'string');
  }

  /** Words of a field, separated by lines or commas. */
  words(name: string): string[] {
    return this.text(name)
      .split(/[\r\n,]+/)
      .map((word) => word.trim())
      .filter((word) => word !== '');
  }

  isChecked(name: string): boolean {
    return this.text(name) === 'true';
  }

  /** Undefined if it is empty; a text that is not a whole number becomes NaN, which the rules refuse. */
  wholeNumber(name: string): number | undefined {
    const text = this.optional(name);
    if (text === undefined) return undefined;
    return /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  }
}

/** Checks a form with the rules of the REST interface. @throws INVALID_ARGUMENT with every invalid field. */
export function validated<Body extends object>(type: Type<Body>, plain: Readonly<Record<string, unknown>>): Body {
  const body = plainToInstance(type, plain, { exposeUnsetFields: false });
  const errors = validateSync(body, { whitelist: true, forbidNonWhitelisted: true });
  if (errors.length > 0) throw validationFailure(errors, 'INVALID_ARGUMENT');
  return body;
}

/** The reason why a form was refused, or undefined. Other errors are thrown again. */
export async function refusalOf(work: () => Promise<void>): Promise<AppError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return error;
    throw error;
  }
}
