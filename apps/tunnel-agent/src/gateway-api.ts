import type { Language } from '@gatehouse/i18n';

const LIMIT_MS = 15_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** The gateway refused a request, or did not answer it. */
export class GatewayError extends Error {
  /** 0: no answer. */
  readonly status: number;

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GatewayError';
    this.status = status;
  }
}

export interface GatewayAddress {
  /** The console's address, without a path. */
  url: string;
  apiKey: string;
  language: Language;
}

/** The REST interface of a gateway, with an API key. */
export class GatewayApi {
  private readonly address: GatewayAddress;

  constructor(address: GatewayAddress) {
    this.address = address;
  }

  /** The body of the answer; null if it has none. @throws GatewayError */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.send(method, path, body);
    const answer = parsed(text);
    if (status >= 200 && status < 300 && answer !== undefined) return answer as T;
    throw new GatewayError(reasonIn(answer) ?? `HTTP ${status}`, status);
  }

  private async send(method: string, path: string, body: unknown): Promise<{ status: number; text: string }> {
    const { url, apiKey, language } = this.address;
    try {
      const answer = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          'accept-language': language,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // The key must not go anywhere else.
        redirect: 'error',
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      return { status: answer.status, text: await readAll(answer) };
    } catch (error) {
      const { cause } = error as Error;
      const reason = cause instanceof Error && cause.message !== '' ? cause.message : (error as Error).message;
      throw new GatewayError(`${new URL(url).host}: ${reason}`, 0, { cause: error });
    }
  }
}

async function readAll({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Undefined: this is not JSON. */
function parsed(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** From a problem in the form of RFC 9457. */
function reasonIn(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { detail, errors } = answer as { detail?: unknown; errors?: unknown };
  if (Array.isArray(errors) && errors.length > 0) {
    const fields = errors as { field?: string; message?: string }[];
    return fields.map(({ field, message }) => `${field}: ${message}`).join('; ');
  }
  return typeof detail === 'string' ? detail : undefined;
}
