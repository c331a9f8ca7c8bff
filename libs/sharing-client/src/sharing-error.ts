export interface SharingErrorFacts {
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** The stable word for why, as in docs/errors.md or RFC 6749; empty if the answer has none. */
  readonly code: string;
  readonly message: string;
  /** Names the call in the error log of the application. */
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The fields that are wrong. */
  readonly details?: readonly { readonly field: string; readonly message: string }[] | undefined;
  readonly cause?: unknown;
}

/** The service refused a call, or could not be reached. */
export class SharingError extends Error {
  override readonly name: string = 'SharingError';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly details: readonly { readonly field: string; readonly message: string }[];

  constructor({ status, code, message, requestId, retryAfterSeconds, details = [], cause }: SharingErrorFacts) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
    this.details = details;
  }
}

/** There are no tokens that work: the user has to sign in. */
export class SignInRequiredError extends SharingError {
  override readonly name = 'SignInRequiredError';
}

/** From an answer of the open API (an envelope) or of the token endpoint (RFC 6749). */
export async function errorOf(response: Response): Promise<SharingError> {
  return new SharingError(await factsOf(response));
}

export async function factsOf(response: Response): Promise<SharingErrorFacts> {
  const { status } = response;
  const body = await bodyOf(response);
  const text = (name: string): string | undefined => (typeof body[name] === 'string' ? body[name] : undefined);
  const code = text('code') ?? text('error') ?? '';
  return {
    status,
    code,
    message: text('message') ?? text('error_description') ?? (code === '' ? `The answer was ${status}` : code),
    requestId: text('request_id') ?? response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterOf(response),
    details: Array.isArray(body['details']) ? (body['details'] as SharingErrorFacts['details']) : [],
  };
}

/** Seconds; the service sends no dates. */
export function retryAfterOf({ headers }: Response): number | undefined {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** Empty if the answer is no JSON object, as one of a proxy in between. */
async function bodyOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const body: unknown = JSON.parse(await response.text());
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
