export interface JsonAnswer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape, failures included
  body: any;
  cookie: string;
}

export type JsonClient = (method: string, path: string, body?: object) => Promise<JsonAnswer>;

/** Talks JSON to a service with the given headers; every answer comes back, whatever its status. */
export function jsonClient(base: string, headers: Record<string, string> = {}): JsonClient {
  return async (method, path, body) => {
    const response = await fetch(base + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    const [cookie = ''] = response.headers.getSetCookie();
    return { status: response.status, body: text === '' ? null : JSON.parse(text), cookie: cookie.split(';')[0] ?? '' };
  };
}

/** The body of a success. @throws Error with the answer otherwise */
// oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape, failures included
export async function must(answer: Promise<JsonAnswer>): Promise<any> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
}
