import { ApiCallError } from './api-client.js';

/** What every answer of resource-sharing is. */
export interface Envelope<T = unknown> {
  readonly success: boolean;
  readonly code: string;
  readonly message: string;
  readonly data: T;
}

/** One that talks to resource-sharing: with a login of the site, with keys and tokens, or with nothing. */
export class EnvelopeClient {
  readonly base: string;
  readonly #headers: Record<string, string>;
  #cookie = '';

  constructor(base: string, headers: Record<string, string> = {}) {
    this.base = base;
    this.#headers = headers;
  }

  /** The status and the envelope, whatever they say. */
  async ask<T>(method: string, path: string, body?: object): Promise<Envelope<T> & { status: number }> {
    const headers: Record<string, string> = { ...this.#headers, accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (this.#cookie !== '') headers['cookie'] = this.#cookie;
    const response = await fetch(this.base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const [cookie] = response.headers.getSetCookie();
    if (cookie !== undefined) this.#cookie = cookie.split(';')[0] ?? '';
    return { ...((await response.json()) as Envelope<T>), status: response.status };
  }

  /** `data` of a success. @throws ApiCallError with the status and the service's own words on anything else. */
  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const { status, success, code, message, data } = await this.ask<T>(method, path, body);
    if (!success || status > 299) throw new ApiCallError(method, path, status, `${code}: ${message}`);
    return data;
  }
}

/** Logs the first administrator in and makes a key of theirs that may look and ask, as their own programs have it. */
export async function makeReadingKey(
  administrator: EnvelopeClient,
  password: string,
  name: string,
): Promise<{ id: number; secret: string }> {
  await administrator.call('POST', '/api/site/login', { username: 'admin', password });
  const wish = { name, scopes: ['meta', 'query'], current_password: password };
  return administrator.call('POST', '/api/site/keys', wish);
}
