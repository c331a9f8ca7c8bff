import { createHash, createHmac, randomBytes } from 'node:crypto';
import { localized } from '../../bootstrap/language.mjs';
import { EnvelopeClient } from './envelope-client.js';
import { expectEqual, expectThat, type Script } from './script.js';

const OAUTH = '/api/public/openapi/oauth';
/** Nobody listens there: the tour reads the code from the answer that the page would carry there. */
const REDIRECT_URI = 'http://127.0.0.1:8090/callback';
const TITLE = { media_type: 'movie', tmdb_id: '550' };
const PRICE_ABOVE_BALANCE = 5;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
}

interface Unlocked {
  readonly full_url: string;
  readonly already_owned: boolean;
}

interface Listed {
  readonly slug: string;
  readonly unlock_points: number | null;
  readonly is_unlocked: boolean;
}

/** Who is on stage: the first administrator, who also shares and develops, and a member. */
interface Stage {
  readonly base: string;
  readonly script: Script;
  readonly administrator: EnvelopeClient;
  /** The administrator's password. */
  readonly password: string;
  readonly member: EnvelopeClient;
  readonly memberId: number;
}

interface Application {
  readonly clientId: string;
  readonly secret: string;
}

/** What the tour adds to the platform, taken away again at its end. The member stays for the next tour. */
interface Trace {
  keyId?: number;
  sharer?: EnvelopeClient;
  slug?: string;
  clientId?: string;
}

/**
 * The path of resource-sharing: a user shares a link for points, a third-party application is registered, a member
 * authorises it, and it unlocks the share for them, refreshes its tokens and gives them up.
 * @throws TourFailure at the first thing that is not as it should be; what it added is removed all the same.
 */
export async function tourResourceSharing(base: string, password: string, script: Script): Promise<void> {
  script.chapter('resource-sharing: from an application to an unlocked share');
  const administrator = new EnvelopeClient(base);
  const trace: Trace = {};
  const stage = await enter(base, administrator, password, script);
  try {
    const price = await priceBeyondReach(stage);
    const slug = await share(stage, price, trace);
    const application = await register(stage, trace);
    const tokens = await authorize(stage, application);
    await unlock(stage, application, tokens, { slug, price });
    await refreshAndRevoke(stage, application, tokens);
  } finally {
    await cleanUp(stage, trace);
  }
}

async function enter(base: string, administrator: EnvelopeClient, password: string, script: Script): Promise<Stage> {
  await script.step('log in to the site as its first administrator', async (say) => {
    const account = await administrator.call<{ id: number; username: string }>('POST', '/api/site/login', {
      username: 'admin',
      password,
    });
    say(localized(`account ${account.id}, ${account.username}`, `账号 ${account.id}，${account.username}`));
  });
  const member = new EnvelopeClient(base);
  const memberId = await script.step('log in as a member, whom the first tour registers', async (say) => {
    const { id, username, isNew } = await logInOrRegister(member, password);
    say(
      localized(
        `account ${id}, ${username}${isNew ? ', just created' : ''}`,
        `账号 ${id}，${username}${isNew ? '，刚刚创建' : ''}`,
      ),
    );
    return id;
  });
  await forgive(administrator, memberId, script);
  return { base, script, administrator, password, member, memberId };
}

/** A user for whom several applications unlock within minutes is suspicious, and each tour is another application. */
async function forgive(administrator: EnvelopeClient, memberId: number, script: Script): Promise<void> {
  const path = `/api/site/admin/risk/${memberId}`;
  await script.step('reset the risk tier of the member', async (say) => {
    const { tier } = await administrator.call<{ tier: number }>('GET', path);
    const { status, code } = await administrator.ask('POST', `${path}/reset`);
    expectThat(status === 200 || status === 404, `the reset answered ${status} ${code}`);
    say(
      status === 404 ? localized('nothing', '无') : localized(`risk tier ${tier}; now 0`, `风险等级 ${tier}，现为 0`),
    );
  });
}

/** Name and password follow from the administrator's, so that a later tour finds the account again. */
async function logInOrRegister(
  member: EnvelopeClient,
  adminPassword: string,
): Promise<{ id: number; username: string; isNew: boolean }> {
  const digest = createHmac('sha256', adminPassword).update('the member of the tour').digest('hex');
  const credentials = { username: `tour-${digest.slice(0, 12)}`, password: digest.slice(12) };
  const known = await member.ask<{ id: number; username: string }>('POST', '/api/site/login', credentials);
  if (known.success) return { ...known.data, isNew: false };
  expectEqual('the answer to an unknown member', known.status, 401);
  const made = await member.call<{ id: number; username: string }>('POST', '/api/site/register', credentials);
  return { ...made, isNew: true };
}

async function balanceOf({ administrator, memberId }: Stage): Promise<number> {
  return (await administrator.call<{ points: number }>('GET', `/api/site/admin/users/${memberId}`)).points;
}

async function priceBeyondReach(stage: Stage): Promise<number> {
  return (await balanceOf(stage)) + PRICE_ABOVE_BALANCE;
}

async function share({ base, script, administrator, password }: Stage, price: number, trace: Trace): Promise<string> {
  const key = await script.step('create a personal API key', async (say) => {
    const made = await administrator.call<{ id: number; secret: string; hint: string }>('POST', '/api/site/keys', {
      name: `tour ${new Date().toISOString()}`,
      scopes: ['meta', 'query', 'write'],
      current_password: password,
    });
    trace.keyId = made.id;
    say(localized(`key ${made.id}, ${made.hint}, shown this once`, `密钥 ${made.id}，${made.hint}，只显示这一次`));
    return made.secret;
  });
  const sharer = new EnvelopeClient(base, { 'x-api-key': key });
  trace.sharer = sharer;
  return await script.step('share a link for points, with that key', async (say) => {
    const id = randomBytes(6).toString('hex');
    const { slug } = await sharer.call<Listed>('POST', '/api/open/shares', {
      ...TITLE,
      url: `https://115.com/s/tour${id}?password=t0ur`,
      title: 'What the tour shares',
      unlock_points: price,
    });
    trace.slug = slug;
    say(localized(`share ${slug}, ${price} points`, `分享 ${slug}，${price} 积分`));
    return slug;
  });
}

async function register({ script, administrator }: Stage, trace: Trace): Promise<Application> {
  const application = await script.step('register an application', async (say) => {
    const made = await administrator.call<{
      client_id: string;
      status: string;
      secret: { secret: string; hint: string };
    }>('POST', '/api/site/applications', {
      name: 'Tour',
      redirect_uris: [REDIRECT_URI],
      scopes: ['meta', 'query', 'unlock'],
      require_pkce: true,
    });
    trace.clientId = made.client_id;
    say(`client_id ${made.client_id}, ${made.status}, ${made.secret.hint}`);
    return { clientId: made.client_id, secret: made.secret.secret };
  });
  await script.step('approve it, so that every member can use it', async (say) => {
    const path = `/api/site/admin/applications/${application.clientId}`;
    const review = { auth_level: 'verified', status: 'approved' };
    const reviewed = await administrator.call<{ status: string; auth_level: string }>('PATCH', path, review);
    say(`${reviewed.auth_level}, ${reviewed.status}`);
  });
  return application;
}

async function authorize({ base, script, member }: Stage, application: Application): Promise<Tokens> {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(8).toString('hex');
  const request = {
    client_id: application.clientId,
    redirect_uri: REDIRECT_URI,
    scope: 'meta query unlock',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  await script.step('show the member the requested scopes', async (say) => {
    const path = `${OAUTH}/authorize?${new URLSearchParams(request).toString()}`;
    const preview = await member.call<{ app_name: string; requested_scopes: string[] }>('GET', path);
    const scopes = preview.requested_scopes.join(', ');
    say(localized(`${preview.app_name} asks for ${scopes}`, `${preview.app_name} 请求：${scopes}`));
    const page = `${base}/openapi/authorize?client_id=${application.clientId}&…`;
    say(localized(`by browser: ${page}`, `在浏览器中：${page}`));
  });
  const code = await script.step('authorize it as the member', async (say) => {
    const answer = await member.call<{ code: string; state: string; expires_in: number }>(
      'POST',
      `${OAUTH}/authorize`,
      request,
    );
    expectEqual('the state', answer.state, state);
    say(localized(`a code for ${answer.expires_in} s`, `授权码有效期 ${answer.expires_in} 秒`));
    return answer.code;
  });
  const grant = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: verifier };
  const server = new EnvelopeClient(base, { 'x-api-key': application.secret });
  return await script.step('exchange the code for tokens', async (say) => {
    const tokens = await server.call<Tokens>('POST', `${OAUTH}/token`, grant);
    say(
      localized(
        `an access token for ${tokens.expires_in} s: ${tokens.scope}`,
        `访问令牌有效期 ${tokens.expires_in} 秒：${tokens.scope}`,
      ),
    );
    return tokens;
  });
}

async function unlock(
  stage: Stage,
  application: Application,
  tokens: Tokens,
  { slug, price }: { slug: string; price: number },
): Promise<void> {
  const { script, administrator, memberId } = stage;
  const client = asMember(stage, application, tokens);
  await script.step('find the share by its title: link and code are hidden', async (say) => {
    const found = await client.call<Listed[]>('GET', `/api/open/resources/${TITLE.media_type}/${TITLE.tmdb_id}`);
    const ours = found.find((listed) => listed.slug === slug);
    expectEqual('price and state', [ours?.unlock_points, ours?.is_unlocked], [price, false]);
    const detail = await client.call<object>('GET', `/api/open/shares/${slug}`);
    expectThat(!JSON.stringify(detail).includes('115.com/s/'), 'the detail reveals the link');
    const title = `${TITLE.media_type} ${TITLE.tmdb_id}`;
    say(
      localized(
        `${found.length} resources of ${title}; ours costs ${price} points`,
        `${title} 共有 ${found.length} 个资源；本演示的资源需要 ${price} 积分`,
      ),
    );
  });
  await script.step('try to unlock it with too few points', async (say) => {
    const refused = await client.ask('POST', '/api/open/resources/unlock', { slug });
    expectEqual('the answer', [refused.status, refused.code], [402, 'INSUFFICIENT_POINTS']);
    say(`402 ${refused.code}: ${refused.message}`);
  });
  await script.step('give the member points and unlock it', async (say) => {
    const grant = { points: PRICE_ABOVE_BALANCE, ref: randomBytes(12).toString('hex'), note: 'tour' };
    await administrator.call('POST', `/api/site/admin/users/${memberId}/points`, grant);
    const unlocked = await client.call<Unlocked>('POST', '/api/open/resources/unlock', { slug });
    expectEqual('already_owned', unlocked.already_owned, false);
    say(unlocked.full_url);
  });
  await script.step('unlock it again: it is paid for only once', async (say) => {
    const again = await client.call<Unlocked>('POST', '/api/open/resources/unlock', { slug });
    expectEqual('already_owned', again.already_owned, true);
    const balance = await balanceOf(stage);
    expectEqual('points of the member', balance, 0);
    say(localized(`already_owned, ${balance} points left`, `already_owned，剩余 ${balance} 积分`));
  });
}

async function refreshAndRevoke(stage: Stage, application: Application, first: Tokens): Promise<void> {
  const { base, script } = stage;
  const server = new EnvelopeClient(base, { 'x-api-key': application.secret });
  const refresh = (from: Tokens): Promise<Tokens> =>
    server.call<Tokens>('POST', `${OAUTH}/token`, { grant_type: 'refresh_token', refresh_token: from.refresh_token });
  const second = await script.step('refresh the tokens', async (say) => {
    const tokens = await refresh(first);
    expectThat(tokens.refresh_token !== first.refresh_token, 'the refresh token is the same');
    await asMember(stage, application, tokens).call('GET', '/api/open/ping');
    say(localized('a new access token and a new refresh token', '新的访问令牌和新的刷新令牌'));
    return tokens;
  });
  await script.step('send the used refresh token again, as if the answer was lost', async (say) => {
    // Not what is left of their time: some of it has gone by.
    const again = await refresh(first);
    expectEqual('the access token', again.access_token, second.access_token);
    expectEqual('the refresh token', again.refresh_token, second.refresh_token);
    say(localized('the same new tokens, for some seconds', '数秒之内得到相同的新令牌'));
  });
  await script.step('revoke the tokens: they stop working', async (say) => {
    await server.call('POST', `${OAUTH}/revoke`, { refresh_token: second.refresh_token });
    const refused = await asMember(stage, application, second).ask('GET', '/api/open/ping');
    expectEqual('the answer', [refused.status, refused.code], [401, 'OPENAPI_REAUTH_REQUIRED']);
    say(`401 ${refused.code}: ${refused.message}`);
  });
}

function asMember({ base }: Stage, { secret }: Application, { access_token }: Tokens): EnvelopeClient {
  return new EnvelopeClient(base, { 'x-api-key': secret, authorization: `Bearer ${access_token}` });
}

async function cleanUp({ script, administrator }: Stage, trace: Trace): Promise<void> {
  await script.step('remove what the tour added', async () => {
    if (trace.slug !== undefined) await trace.sharer?.call('DELETE', `/api/open/shares/${trace.slug}`);
    if (trace.clientId !== undefined) await administrator.call('DELETE', `/api/site/applications/${trace.clientId}`);
    if (trace.keyId !== undefined) await administrator.call('DELETE', `/api/site/keys/${trace.keyId}`);
    await administrator.call('POST', '/api/site/logout');
  });
}
