import {
  ValidationPipe,
  type ArgumentMetadata,
  type ValidationError,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { AppError, type ErrorDetail } from '../errors/app-error.js';
import { ignoresUnknownFields } from './unknown-fields.js';

export type ValidationCode = 'INVALID_ARGUMENT' | 'VALIDATION_FAILED';

/**
 * Checks request classes: unknown fields are refused (or ignored: @IgnoresUnknownFields()), plain values are converted
 * to the declared types, and every invalid field is listed in `details`.
 */
export function createValidationPipe(code: ValidationCode = 'INVALID_ARGUMENT'): ValidationPipe {
  const options = {
    whitelist: true,
    transform: true,
    transformOptions: { exposeUnsetFields: false },
    // The value tells a missing field from a wrong one; it is not part of the answer.
    validationError: { target: false },
    exceptionFactory: (errors: ValidationError[]) => validationFailure(errors, code),
  };
  return new RequestClassPipe({ ...options, forbidNonWhitelisted: true }, new PlainTextPipe(options));
}

/** Single parameters stay text: Nest would read `1e3`, `0x10` and ` 7` as numbers before their own pipe sees them. */
class PlainTextPipe extends ValidationPipe {
  protected override transformPrimitive(value: unknown): unknown {
    return value;
  }
}

class RequestClassPipe extends PlainTextPipe {
  private readonly lenient: ValidationPipe;

  constructor(options: ValidationPipeOptions, lenient: ValidationPipe) {
    super(options);
    this.lenient = lenient;
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (ignoresUnknownFields(metadata.metatype)) return this.lenient.transform(value, metadata) as Promise<unknown>;
    return super.transform(value, metadata) as Promise<unknown>;
  }
}

/** An AppError with every invalid field. */
export function validationFailure(errors: readonly ValidationError[], code: ValidationCode): AppError {
  const details = errors.flatMap((error) => flatten(error, ''));
  const [first] = details;
  const message = details.length === 1 && first ? `${first.field}: ${first.message}` : 'Some fields are not acceptable';
  return new AppError(code, message, { details });
}

function flatten(error: ValidationError, parent: string): ErrorDetail[] {
  const field = joinPath(parent, error.property);
  const rules = Object.entries(error.constraints ?? {});
  // What is missing breaks every rule of its field, and none of them would explain it.
  if (error.value === undefined && rules.length > 0) return [{ field, message: 'is missing' }];
  const own = rules.map(([rule, text]) => ({
    field,
    message: rule === 'whitelistValidation' ? 'is not a known field' : withoutField(text, error.property),
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => flatten(child, field))];
}

function joinPath(parent: string, property: string): string {
  if (parent === '') return property;
  return /^\d+$/.test(property) ? `${parent}[${property}]` : `${parent}.${property}`;
}

/** class-validator starts its texts with the property, but `field` already has the name. */
function withoutField(text: string, property: string): string {
  return text.startsWith(`${property} `) ? text.slice(property.length + 1) : text;
}
