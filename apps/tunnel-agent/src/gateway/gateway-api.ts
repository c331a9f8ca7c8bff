import type { IncomingMessage } from 'node:http';
import type { Language } from '@gatehouse/i18n';
import { requestHttp } from '@gatehouse/net';
import type { AgentDialer } from '@gatehouse/tunnel-kernel';
import { GatewaySockets } from './gateway-sockets.js';

const LIMIT_MS = 15_000;
const NO_ANSWER = `no answer within ${LIMIT_MS / 1000} s`;
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
  /** Absent: before the login. */
  apiKey?: string;
  language: Language;
  dialer: Pick<AgentDialer, 'server'>;
}

/** The REST interface of a gateway. */
export class GatewayApi {
  private readonly address: GatewayAddress;
  private readonly url: URL;
  private readonly sockets: GatewaySockets;

  constructor(address: GatewayAddress) {
    this.address = address;
    this.url = new URL(address.url);
    this.sockets = new GatewaySockets(address.dialer, this.url);
  }

  /** The body of the answer; null if it has none. @throws GatewayError */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.send(method, path, body);
    const answer = parsed(text);
    if (status >= 200 && status < 300 && answer !== undefined) return answer as T;
    throw new GatewayError(reasonIn(answer) ?? `HTTP ${status}`, status);
  }

  private async send(method: string, path: string, body: unknown): Promise<{ status: number; text: string }> {
    try {
      const answer = await this.request(method, path, body);
      // A redirection is not followed: the key must not go anywhere else.
      return { status: answer.statusCode ?? 0, text: await readAll(answer) };
    } catch (error) {
      throw new GatewayError(`${this.url.host}: ${(error as Error).message}`, 0, { cause: error });
    }
  }

  private request(method: string, path: string, body: unknown): Promise<IncomingMessage> {
    const { apiKey, language } = this.address;
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = requestHttp({
        method,
        path: `/api/v1${path}`,
        headers: {
          host: this.url.host,
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          'accept-language': language,
          ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        },
        agent: this.sockets,
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      request.on('error', (error) =>
        reject(error.name === 'AbortError' ? new Error(NO_ANSWER, { cause: error }) : error),
      );
      request.once('response', resolve);
      request.end(text);
    });
  }
}

async function readAll(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
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
