/** Every code a `FormatError`, a skipped entry or a refused document can carry. Stable: callers store and translate them. */
export const FORMAT_ERROR_CODES = [
  // One entry
  'missing_field',
  'invalid_field',
  'invalid_server',
  'invalid_port',
  'invalid_uuid',
  'invalid_base64',
  'invalid_json',
  'invalid_yaml',
  'invalid_link',
  'invalid_entry',
  'entry_too_large',
  'unsupported_scheme',
  'unsupported_type',
  'unsupported_transport',
  'unsupported_security',
  'unsupported_option',
  'unrecognised_line',
  'type_mismatch',
  'no_link_form',
  // A whole document
  'empty_document',
  'html_response',
  'unknown_format',
  'no_entries',
  'too_large',
  'too_deep',
  'too_many_aliases',
  'too_many_entries',
] as const;
export type FormatErrorCode = (typeof FORMAT_ERROR_CODES)[number];

/** Text that cannot be read. `message` never contains a credential, so it may be shown to users. */
export class FormatError extends Error {
  readonly code: FormatErrorCode;
  /** The invalid option, by its Clash name, e.g. `port` or `ws-opts.path`. */
  readonly field: string | undefined;

  constructor(code: FormatErrorCode, message: string, options: { field?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'FormatError';
    this.code = code;
    this.field = options.field;
  }
}

export function missing(field: string): FormatError {
  return new FormatError('missing_field', `${field} is missing`, { field });
}

export function invalid(field: string, expected: string): FormatError {
  return new FormatError('invalid_field', `${field} must be ${expected}`, { field });
}
