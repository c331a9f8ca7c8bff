import { ensure, type Attack } from './attack.js';

/** Attacks on resource-sharing. */
export function siteAttacks({ url, password }: { url: string; password: string }): Attack[] {
  return [
    { name: 'an application whose name shows as another', run: () => nameWithHiddenCharacters(url, password) },
    { name: 'a form of the site that comes from elsewhere', run: () => forgeForm(url, password) },
    { name: 'names of accounts on the pages for strangers', run: () => readPages(url) },
    { name: 'an audit log of the site that was changed', run: () => verifyAudit(url, password) },
  ];
}

async function logIn(url: string, password: string): Promise<string> {
  const answer = await fetch(`${url}/api/site/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
    signal: AbortSignal.timeout(30_000),
  });
  await answer.arrayBuffer();
  const [cookie = ''] = answer.headers.getSetCookie();
  ensure(answer.ok && cookie !== '', `the login of the site answered ${answer.status}`);
  return cookie.split(';')[0] ?? '';
}

async function post(url: string, cookie: string, body: unknown, origin: string): Promise<number> {
  const headers = { 'content-type': 'application/json', cookie, origin, 'sec-fetch-site': siteOf(url, origin) };
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(30_000) };
  const answer = await fetch(url, init);
  await answer.arrayBuffer();
  return answer.status;
}

function siteOf(url: string, origin: string): string {
  return new URL(url).origin === origin ? 'same-origin' : 'cross-site';
}

async function nameWithHiddenCharacters(url: string, password: string): Promise<string> {
  const cookie = await logIn(url, password);
  const names = ['Gate\u202Ehouse', 'Gate\u200Bhouse', '\u2066Gatehouse\u2069', 'Gate\u00ADhouse'];
  for (const name of names) {
    const body = { name, redirect_uris: ['https://app.example.com/callback'] };
    const status = await post(`${url}/api/site/applications`, cookie, body, new URL(url).origin);
    ensure(status === 400 || status === 422, `an application with invisible characters was answered ${status}`);
  }
  return `${names.length} such names, each refused`;
}

async function forgeForm(url: string, password: string): Promise<string> {
  const cookie = await logIn(url, password);
  const body = { name: 'forged', redirect_uris: ['https://app.example.com/callback'] };
  const status = await post(`${url}/api/site/applications`, cookie, body, 'https://evil.example');
  ensure(status === 403 || status === 401, `a request of another site with the cookie was answered ${status}`);
  return `refused with ${status}`;
}

async function readPages(url: string): Promise<string> {
  const paths = ['/', '/login', '/register'];
  for (const path of paths) {
    const answer = await fetch(url + path, { signal: AbortSignal.timeout(30_000) });
    ensure(!/\badmin\b/i.test(await answer.text()), `${path} names the first account`);
  }
  return `${paths.join(', ')} name nobody`;
}

async function verifyAudit(url: string, password: string): Promise<string> {
  const headers = { cookie: await logIn(url, password) };
  const signal = AbortSignal.timeout(30_000);
  const answer = await fetch(`${url}/api/site/admin/audit-logs/verify`, { headers, signal });
  const { data } = (await answer.json()) as { data: { ok: boolean } | null };
  ensure(data?.ok === true, `the chain of the audit log does not hold (${answer.status})`);
  return 'its chain holds';
}
