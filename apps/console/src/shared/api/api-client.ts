import { ApiError, toApiError } from './api-error.js';
import { Reachability } from './reachability.js';
import { RepeatKeys } from './repeat-keys.js';
import type { Session } from './session.js';
import { language, t } from '../messages/index.js';

export type QueryValue = string | number | boolean | null | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

export interface ApiRequest {
  query?: Query;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export interface ApiAnswer<T> {
  body: T;
  headers: Headers;
}

/** A file that the service hands out. */
export interface Download {
  name: string;
  content: Blob;
}

const TIMEOUT_MS = 130_000;

/** Calls the service's API with the session's token. Every failure is an ApiError; a 401 also ends the session. */
export class ApiClient {
  readonly reachability = new Reachability();
  readonly #base: string;
  readonly #session: Session;
  readonly #fetch: typeof fetch;
  readonly #repeats = new RepeatKeys();

  constructor(base: string, session: Session, fetcher: typeof fetch = (...args) => fetch(...args)) {
    this.#base = base;
    this.#session = session;
    this.#fetch = fetcher;
  }

  async get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
    return (await this.send<T>('GET', path, { ...(query && { query }), ...(signal && { signal }) })).body;
  }

  async post<T>(path: string, body?: unknown, query?: Query): Promise<T> {
    const key = this.#repeats.keyFor(path, JSON.stringify(body) ?? '');
    const headers = { 'idempotency-key': key };
    try {
      const answer = await this.send<T>('POST', path, { body, headers, ...(query && { query }) });
      this.#repeats.answered(key);
      return answer.body;
    } catch (error) {
      if (error instanceof ApiError && error.status > 0) this.#repeats.answered(key);
      throw error;
    }
  }

  /** `etag`: as for `patch`. */
  async put<T>(path: string, body: unknown, query?: Query, etag?: string | null): Promise<T> {
    const options = { body, ...(query && { query }), ...(etag && { headers: { 'if-match': etag } }) };
    return (await this.send<T>('PUT', path, options)).body;
  }

  /** `etag`: what was changed since the row was read with it is not overwritten, but answered with status 412. */
  async patch<T>(path: string, body: unknown, etag?: string | null): Promise<T> {
    return (await this.send<T>('PATCH', path, { body, ...(etag && { headers: { 'if-match': etag } }) })).body;
  }

  async delete<T>(path: string, query?: Query): Promise<T> {
    return (await this.send<T>('DELETE', path, query && { query })).body;
  }

  async send<T>(method: string, path: string, request: ApiRequest = {}): Promise<ApiAnswer<T>> {
    const response = await this.#request(method, path, request);
    const { headers } = response;
    try {
      // Nothing to say, as after a removal, is what T is then.
      if (response.status === 204) return { body: undefined as T, headers };
      return { body: (await response.json()) as T, headers };
    } catch (cause) {
      throw unreachable(cause);
    }
  }

  async download(path: string, query: Query): Promise<Download> {
    const response = await this.#request('GET', path, { query });
    const name = /filename="([^"/\\]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
    return { name: name ?? 'download', content: await response.blob() };
  }

  /** The bytes of an answer that goes on for as long as it is listened to. */
  async open(path: string, request: ApiRequest & { signal: AbortSignal }): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#request('GET', path, request, request.signal);
    if (response.body === null) throw unreachable(undefined);
    return response.body;
  }

  async #request(
    method: string,
    path: string,
    { query = {}, body, headers, signal }: ApiRequest,
    until: AbortSignal = AbortSignal.timeout(TIMEOUT_MS),
  ): Promise<Response> {
    const token = this.#session.token;
    const response = await this.#fetch(`${this.#base}${path}${toQueryString(query)}`, {
      method,
      headers: {
        accept: 'application/json, application/problem+json',
        'accept-language': language(),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      credentials: 'omit',
      cache: 'no-store',
      signal: signal === undefined ? until : AbortSignal.any([signal, until]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      if (signal?.aborted === true) throw cause;
      this.reachability.report(true);
      throw unreachable(cause);
    });
    this.reachability.report(false);
    if (response.ok) return response;
    const error = toApiError(response.status, await readJson(response), response.headers.get('retry-after'));
    // An answer to an old token must not end the session that has begun since.
    if (error.code === 'UNAUTHORIZED' && this.#session.token === token) this.#session.expire();
    throw error;
  }
}

/** What is null, undefined or empty is left out: the API refuses parameters without a value. */
export function toQueryString(query: Query): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  if (entries.length === 0) return '';
  return `?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** One segment of a path, whatever characters people gave it. */
export function segment(value: string | number): string {
  return encodeURIComponent(value);
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined; // not from our service, or cut short: the status has to do
  }
}

function unreachable(cause: unknown): ApiError {
  const error = new ApiError(t('errors.unreachable'), { status: 0, code: 'UNREACHABLE' });
  error.cause = cause;
  return error;
}
