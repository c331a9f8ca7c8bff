import type { RunningResourceSharing } from '../support/resource-sharing.js';

const TOKEN = '/api/public/openapi/oauth/token';
/** Nobody listens there: the code is read from the address that the browser is sent to. */
const CALLBACK = 'http://127.0.0.1:8091/back';

interface Tokens {
  access_token: string;
  refresh_token: string;
}

async function post<T>(url: string, headers: Record<string, string>, body: object): Promise<T> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const { success, data, message } = (await answer.json()) as { success: boolean; data: T; message?: string };
  if (!success) throw new Error(`${url} answered ${answer.status}: ${message}`);
  return data;
}

/** A share for points, and an application that a user lets unlock it: with a code, tokens, and other tokens for those. */
export async function unlockByApplication(sharing: RunningResourceSharing, points: number): Promise<void> {
  const { client, viewer } = await sharing.seedDemo([CALLBACK]);
  const administrator = await sharing.administrator();
  const { data: key } = await administrator.call<{ data: { secret: string } }>('POST', '/api/site/keys', {
    name: 'sharer',
    scopes: ['meta', 'query', 'write'],
    current_password: sharing.password,
  });
  const { slug } = await post<{ slug: string }>(
    `${sharing.url}/api/open/shares`,
    { 'x-api-key': key.secret },
    {
      media_type: 'movie',
      tmdb_id: '550',
      url: 'https://115.com/s/metrics?password=t0ur',
      title: 'A share',
      unlock_points: points,
    },
  );
  const application = { 'x-api-key': client.secret };
  const query = new URLSearchParams({ client_id: client.id, redirect_uri: CALLBACK, scope: 'meta query unlock' });
  const address = await viewer.decide(`/openapi/authorize?${query.toString()}&response_mode=redirect&state=s`, 'allow');
  const code = address.searchParams.get('code');
  const grant = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
  const first = await post<Tokens>(sharing.url + TOKEN, application, grant);
  const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
  const second = await post<Tokens>(sharing.url + TOKEN, application, refresh);
  const caller = { ...application, authorization: `Bearer ${second.access_token}` };
  await post(`${sharing.url}/api/open/resources/unlock`, caller, { slug });
}
