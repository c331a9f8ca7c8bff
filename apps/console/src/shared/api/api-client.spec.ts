import { describe, expect, it } from 'vitest';
import { ApiClient, segment, toQueryString } from './api-client.js';
import { ApiError, isOutdated, problemsOf } from './api-error.js';
import { Session } from './session.js';

interface Sent {
  url: string;
  init: RequestInit;
}

function setUp(answer: () => Response | Promise<Response>, token: string | null = 'secret') {
  const kept = new Map(token === null ? [] : [['key', token]]);
  const session = new Session('key', {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  });
  session.begin(true);
  const sent: Sent[] = [];
  const api = new ApiClient('/api/v1', session, async (url, init = {}) => {
    sent.push({ url: url as string, init });
    return answer();
  });
  return { api, session, sent, kept };
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers });

async function failure(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

describe('a call', () => {
  it('sends the token and the body, and hands over what comes', async () => {
    const { api, sent } = setUp(() => json(200, { id: 3 }));
    expect(await api.post('/proxies', { name: 'a' }, { wait: true, empty: '', none: null })).toEqual({ id: 3 });
    expect(sent[0]!.url).toBe('/api/v1/proxies?wait=true');
    expect(sent[0]!.init).toMatchObject({ method: 'POST', body: '{"name":"a"}', credentials: 'omit' });
    expect(sent[0]!.init.headers).toMatchObject({ authorization: 'Bearer secret', 'content-type': 'application/json' });
  });

  it('sends no header for a missing token or body', async () => {
    const { api, sent } = setUp(() => json(200, {}), null);
    await api.get('/auth/status');
    expect(sent[0]!.init.headers).toEqual({
      accept: 'application/json, application/problem+json',
      'accept-language': 'en',
    });
    expect(sent[0]!.init.body).toBeUndefined();
  });

  it('that is refused says what, why, which fields, and when to try again', async () => {
    const details = [{ field: 'name', message: 'name must be shorter' }, 'nonsense'];
    const { api, session } = setUp(() =>
      json(429, { error: 'Slow down', code: 'RATE_LIMITED', details }, { 'retry-after': '17' }),
    );
    const error = await failure(api.get('/x'));
    expect(error).toMatchObject({ message: 'Slow down', status: 429, code: 'RATE_LIMITED', retryAfter: 17 });
    expect(error.details).toEqual([details[0]]);
    expect(session.state).toBe('signed-in');
  });

  it.each([
    ['a page of another server', () => new Response('<html>Bad gateway</html>', { status: 502 }), 502],
    ['half an answer', () => new Response('{"a":', { status: 200 }), 0],
    ['no connection', () => Promise.reject(new TypeError('fetch failed')), 0],
  ])('that gets %s is one clear error', async (_name, answer, status) => {
    const error = await failure(setUp(answer).api.get('/x'));
    expect(error.status).toBe(status);
    expect(error.message).toMatch(/^The service /);
  });

  it('that was given up is no error of the service', async () => {
    const { api } = setUp(() => Promise.reject(new DOMException('aborted', 'AbortError')));
    const abort = new AbortController();
    abort.abort();
    await expect(api.get('/x', {}, abort.signal)).rejects.toThrow('aborted');
  });
});

describe('a problem of RFC 9457', () => {
  it('says what, why and which fields, as the other format does', async () => {
    const errors = [{ field: 'name', message: 'must be shorter' }];
    const body = { type: '/docs/errors#x', title: 'T', status: 422, code: 'validation_failed', detail: 'No.', errors };
    const error = await failure(setUp(() => json(422, body)).api.post('/clients', {}));
    expect([error.message, error.code, error.details]).toEqual(['No.', 'VALIDATION_FAILED', errors]);
  });

  it('about one field is put there, whatever its reason was', () => {
    const error = new ApiError('listen_port: another tunnel has 80', { status: 409, code: 'PORT_IN_USE' });
    expect(problemsOf(error, ['listen_port'])).toEqual([{ field: 'listen_port', message: 'another tunnel has 80' }]);
    expect(problemsOf(error, ['name'])).toEqual([]);
    expect(problemsOf(new Error('name: no'), ['name'])).toEqual([]);
    const listed = new ApiError('name: x', { status: 422, code: 'X', details: [{ field: 'a', message: 'b' }] });
    expect(problemsOf(listed, ['name'])).toEqual([{ field: 'a', message: 'b' }]);
  });

  it('with a code of a wrong login ends no session, and one of no login does', async () => {
    const { api, session } = setUp(() => json(401, { code: 'unauthorized', detail: 'Log in' }));
    await failure(api.get('/x'));
    expect(session.state).toBe('expired');
  });
});

describe('a change', () => {
  it('sends the version it changes, and recognizes the answer for an outdated one', async () => {
    const { api, sent } = setUp(() => json(412, { code: 'precondition_failed', detail: 'Someone changed it' }));
    const error = await failure(api.patch('/clients/1', { name: 'a' }, '"5-x"'));
    expect(sent[0]!.init.headers).toMatchObject({ 'if-match': '"5-x"' });
    expect([isOutdated(error), isOutdated(new Error('412'))]).toEqual([true, false]);
    await failure(api.patch('/clients/1', {}, null));
    expect(sent[1]!.init.headers).not.toHaveProperty('if-match');
  });

  it('may be answered by nothing', async () => {
    const { api } = setUp(() => new Response(null, { status: 204 }));
    expect(await api.delete('/clients/1')).toBeUndefined();
  });
});

describe('a POST', () => {
  const keyOf = ({ init }: Sent): string => (init.headers as Record<string, string>)['idempotency-key'] ?? '';

  it('that was not answered is sent again as the same, and is another one after any answer', async () => {
    const answers = [
      () => Promise.reject(new TypeError('fetch failed')),
      () => json(422, { code: 'validation_failed', detail: 'No' }),
      () => json(201, { id: 1 }),
      () => json(201, { id: 2 }),
    ];
    const { api, sent } = setUp(() => answers[sent.length - 1]!());
    await failure(api.post('/clients', { name: 'a' }));
    await failure(api.post('/clients', { name: 'a' }));
    await api.post('/clients', { name: 'a' });
    await api.post('/clients', { name: 'a' });
    const [first, repeat, second, third] = sent.map(keyOf);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(repeat).toBe(first);
    expect(new Set([first, second, third]).size).toBe(3);
  });

  it('with something else to say is another one', async () => {
    const { api, sent } = setUp(() => Promise.reject(new TypeError('fetch failed')));
    for (const name of ['a', 'b', 'a']) await failure(api.post('/clients', { name }));
    expect(new Set(sent.map(keyOf)).size).toBe(3);
  });
});

describe('an answer that goes on', () => {
  it('is handed over as it comes, with fields of its own', async () => {
    const { api, sent } = setUp(() => new Response('data: 1\n\n'));
    const headers = { accept: 'text/event-stream', 'last-event-id': '7' };
    const stream = await api.open('/events', { headers, signal: new AbortController().signal });
    expect(await new Response(stream).text()).toBe('data: 1\n\n');
    expect(sent[0]!.init.headers).toEqual({ 'accept-language': 'en', authorization: 'Bearer secret', ...headers });
  });
});

describe('a service that does not answer', () => {
  it('is away until it answers again, with whatever status', async () => {
    let answer: () => Response = () => {
      throw new TypeError('fetch failed');
    };
    const { api } = setUp(() => answer());
    const changes: boolean[] = [];
    const leave = api.reachability.onChange(() => changes.push(api.reachability.away));
    await failure(api.get('/x'));
    await failure(api.get('/x'));
    answer = () => json(500, { error: 'Something failed', code: 'INTERNAL' });
    await failure(api.get('/x'));
    leave();
    expect(changes).toEqual([true, false]);
  });

  it('is not away because a request was given up', async () => {
    const { api } = setUp(() => {
      throw new DOMException('aborted', 'AbortError');
    });
    const abort = new AbortController();
    abort.abort();
    await expect(api.get('/x', {}, abort.signal)).rejects.toThrow('aborted');
    expect(api.reachability.away).toBe(false);
  });
});

describe('a 401', () => {
  const unauthorized = () => json(401, { error: 'Valid credentials are needed', code: 'UNAUTHORIZED' });

  it('ends the session and forgets the token', async () => {
    const { api, session, kept } = setUp(unauthorized);
    await failure(api.get('/x'));
    expect([session.state, session.token, kept.size]).toEqual(['expired', null, 0]);
  });

  it('to an old token leaves the session that has begun since', async () => {
    const { api, session } = setUp(() => {
      session.signIn('newer');
      return unauthorized();
    });
    await failure(api.get('/x'));
    expect([session.state, session.token]).toEqual(['signed-in', 'newer']);
  });

  it('for a wrong password ends no session', async () => {
    const { api, session } = setUp(() => json(401, { error: 'The password is wrong', code: 'LOGIN_FAILED' }));
    await failure(api.post('/auth/password', {}));
    expect(session.state).toBe('signed-in');
  });
});

describe('addresses', () => {
  it('hold names of any characters', () => {
    expect(segment('a/b?c#d e')).toBe('a%2Fb%3Fc%23d%20e');
    expect(toQueryString({ search: 'a&b=c', limit: 0, on: false, none: undefined })).toBe(
      '?search=a%26b%3Dc&limit=0&on=false',
    );
    expect(toQueryString({})).toBe('');
  });

  it('of downloads give the name that the service chose, and no path', async () => {
    const file = (name: string) => () =>
      new Response('x', { headers: { 'content-disposition': `attachment; filename="${name}"` } });
    expect((await setUp(file('nodes.json')).api.download('/e', {})).name).toBe('nodes.json');
    expect((await setUp(file('../evil')).api.download('/e', {})).name).toBe('download');
  });
});
