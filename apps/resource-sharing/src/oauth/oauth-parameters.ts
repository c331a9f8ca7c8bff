import { OAuthError } from './oauth-error.js';

const MAX_LENGTH = 4_000;

/**
 * Parameters of a request, from its query, form or JSON body. RFC 6749 section 3.1: unknown ones are ignored, empty ones
 * count as omitted, repeated ones raise invalid_request.
 */
export class OAuthParameters {
  private readonly source: Readonly<Record<string, unknown>>;

  constructor(source: unknown) {
    if (source !== undefined && source !== null && (typeof source !== 'object' || Array.isArray(source))) {
      throw new OAuthError('invalid_request', 'The body must be an object');
    }
    this.source = (source ?? {}) as Record<string, unknown>;
    for (const [name, value] of Object.entries(this.source)) {
      if (Array.isArray(value)) throw new OAuthError('invalid_request', `The parameter ${clean(name)} is repeated`);
    }
  }

  /** Undefined when absent or empty. @throws invalid_request for anything but a text. */
  optional(name: string): string | undefined {
    if (!Object.hasOwn(this.source, name)) return undefined;
    const value = this.source[name];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw new OAuthError('invalid_request', `The parameter ${name} must be a text`);
    if (value.length > MAX_LENGTH || value.includes('\0')) {
      throw new OAuthError('invalid_request', `The parameter ${name} is too long or not a text`);
    }
    return value;
  }

  /** @throws invalid_request when absent. */
  required(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw new OAuthError('invalid_request', `The parameter ${name} is missing`);
    return value;
  }
}

/** The characters that RFC 6749 section 5.2 allows in an error_description. */
function clean(name: string): string {
  return name.slice(0, 40).replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
}
