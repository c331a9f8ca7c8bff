/** A small client of a management API: JSON in and out, a token once logged in. */
export class ApiClient {
  readonly base: string;
  #token: string | null = null;

  constructor(base: string) {
    this.base = base;
  }

  /** A client that shows an API key or a token which is there already. */
  static withToken(base: string, token: string): ApiClient {
    const client = new ApiClient(base);
    client.#token = token;
    return client;
  }

  /** @param username where the service has users. */
  async login(password: string, username?: string): Promise<void> {
    const { token } = await this.call<{ token: string }>('POST', '/auth/login', {
      password,
      ...(username && { username }),
    });
    this.#token = token;
  }

  /** @throws ApiCallError with the status and the service's own message on any answer but 2xx. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (this.#token) headers['authorization'] = `Bearer ${this.#token}`;
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(this.base + path, {
      method,
      headers,
      ...payload,
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok) throw new ApiCallError(method, path, response.status, text.slice(0, 500));
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}

export class ApiCallError extends Error {
  readonly status: number;
  constructor(method: string, path: string, status: number, text: string) {
    super(`${method} ${path} answered ${status}: ${text}`);
    this.name = 'ApiCallError';
    this.status = status;
  }
}
