import type { Demo } from './demo-seed.js';

/** Things to try, with the calls for them, from a login to the end of the authorization. */
export function demoLines(demo: Demo): string[] {
  return [...summary(demo), '', ...demoCalls(demo).flatMap(({ about, call }) => [`# ${about}`, call])];
}

function summary({ publicUrl, developer, viewer, clientId, redirectUri, secrets, shares }: Demo): string[] {
  const rows = [
    ['site', publicUrl],
    ['user with Premium and points', `${viewer}  password ${secrets.viewerPassword}`],
    ['developer', `${developer}  password ${secrets.developerPassword}`],
    ['application', clientId],
    ['application secret', secrets.applicationSecret],
    ['redirect address', redirectUri],
    [`personal key of ${viewer}`, secrets.personalKey],
    ...shares.map(({ slug, title, points }) => [
      'share',
      `${slug}  ${title} (${points === null ? 'free' : `${points} points`})`,
    ]),
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  return rows.map(([name = '', value = '']) => `${name.padEnd(width)}  ${value}`);
}

export interface DemoCall {
  readonly about: string;
  readonly call: string;
}

/** Lines for a shell with curl and sed. */
export function demoCalls(demo: Demo): DemoCall[] {
  const { publicUrl, clientId, redirectUri, secrets, shares } = demo;
  const json = (body: object): string => `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const { slug = '', ofTitle = '' } = shares.find(({ points }) => points !== null) ?? shares[0] ?? {};
  const asUser = `-H 'X-API-Key: ${secrets.applicationSecret}' -H "Authorization: Bearer $TOKEN"`;
  const token = `${publicUrl}/api/public/openapi/oauth/token -H 'X-API-Key: ${secrets.applicationSecret}'`;
  const read = (name: string): string => `sed -n 's/.*"${name}":"\\([^"]*\\)".*/\\1/p'`;
  const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'meta query unlock vip' };
  const query = new URLSearchParams({ ...request, state: 'demo' }).toString();
  const exchange = `"{\\"grant_type\\":\\"authorization_code\\",\\"code\\":\\"$CODE\\",\\"redirect_uri\\":\\"${redirectUri}\\"}"`;
  const take = `TOKEN=$(echo "$TOKENS" | ${read('access_token')}); REFRESH=$(echo "$TOKENS" | ${read('refresh_token')})`;
  return [
    {
      about: 'the simplest call: a personal key',
      call: `curl -s ${publicUrl}/api/open/me -H 'X-API-Key: ${secrets.personalKey}'`,
    },
    { about: 'authorize the application in a browser', call: `# ${publicUrl}/openapi/authorize?${query}` },
    {
      about: 'or here: log in, then allow it',
      call: `curl -s -c /tmp/gatehouse-demo.cookies ${publicUrl}/api/site/login ${json({ username: demo.viewer, password: secrets.viewerPassword })}`,
    },
    {
      about: 'a code for a minute',
      call: `CODE=$(curl -s -b /tmp/gatehouse-demo.cookies ${publicUrl}/api/public/openapi/oauth/authorize ${json(request)} | ${read('code')})`,
    },
    {
      about: 'tokens for the code',
      call: `TOKENS=$(curl -s ${token} -H 'Content-Type: application/json' -d ${exchange})`,
    },
    { about: 'of which these are used', call: take },
    { about: 'who the user is', call: `curl -s ${publicUrl}/api/open/me ${asUser}` },
    { about: 'the shares of a title', call: `curl -s ${publicUrl}/api/open/resources/${ofTitle} ${asUser}` },
    { about: 'unlock a share', call: `curl -s ${publicUrl}/api/open/resources/unlock ${asUser} ${json({ slug })}` },
    {
      about: 'new tokens',
      call: `TOKENS=$(curl -s ${token} -H 'Content-Type: application/json' -d "{\\"grant_type\\":\\"refresh_token\\",\\"refresh_token\\":\\"$REFRESH\\"}"); ${take}`,
    },
    {
      about: 'the end of the authorization',
      call: `curl -s ${publicUrl}/api/public/openapi/oauth/revoke -H 'X-API-Key: ${secrets.applicationSecret}' -H 'Content-Type: application/json' -d "{\\"refresh_token\\":\\"$REFRESH\\"}"`,
    },
  ];
}
