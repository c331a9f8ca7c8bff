// A third-party application of the open API: Node 24 or newer, nothing to install.
//   CLIENT_ID=… CLIENT_SECRET=… node docs/examples/third-party-app.ts
// Its users come by browser, authorise it, look at resources and unlock them. It speaks the open API's own paths.
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { env, exit, stderr, stdout } from 'node:process';

const SERVICE = (env['SHARING_URL'] ?? 'http://127.0.0.1:8081').replace(/\/+$/, '');
const PORT = Number(env['PORT'] ?? 8090);
const CLIENT_ID = required('CLIENT_ID');
const CLIENT_SECRET = required('CLIENT_SECRET');
const REDIRECT_URI = `http://127.0.0.1:${PORT}/callback`;
const SCOPE = 'meta query unlock vip';
const OAUTH = `${SERVICE}/api/public/openapi/oauth`;
const MOST_SESSIONS = 1000;
const LONGEST_BODY = 10_000;

interface Tokens {
  access_token: string;
  refresh_token: string;
  scope: string;
}

/** What the application knows of one browser. A real one would keep it in a database, the tokens encrypted. */
interface Session {
  pending?: { state: string; verifier: string };
  tokens?: Tokens;
  /** A refresh that is under way: a refresh token is used once, however many requests need a new access token. */
  refreshing?: Promise<void>;
}

interface Envelope {
  success: boolean;
  code: string;
  message: string;
  data?: unknown;
}

interface Resource {
  slug: string;
  title: string | null;
  pan_type: string | null;
  unlock_points: number | null;
  is_unlocked: boolean;
}

/** The service refused; `code` is the stable word for why. */
class ApiFailure extends Error {
  readonly code: string;
  constructor({ code, message }: Envelope) {
    super(message);
    this.code = code;
  }
}

const sessions = new Map<string, Session>();

// --- the authorization ---

/** Where the browser goes to be asked. State and verifier stay here, tied to that browser. */
function authorizationAddress(session: Session): string {
  const state = randomBytes(16).toString('base64url');
  const verifier = randomBytes(32).toString('base64url');
  session.pending = { state, verifier };
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return `${SERVICE}/openapi/authorize?${query.toString()}`;
}

/** What comes back: an answer to our own question, from our own server, or nothing at all. */
async function finishAuthorization(session: Session, answer: URLSearchParams): Promise<void> {
  const { pending } = session;
  delete session.pending;
  if (pending === undefined || answer.get('state') !== pending.state) throw new Error('This answer was not asked for.');
  const issuer = answer.get('iss');
  if (issuer !== null && issuer !== SERVICE) throw new Error(`This answer is from ${issuer}.`);
  if (answer.has('error')) throw new Error(`Not authorised: ${answer.get('error_description') ?? answer.get('error')}`);
  session.tokens = await tokenRequest('token', {
    grant_type: 'authorization_code',
    code: answer.get('code'),
    redirect_uri: REDIRECT_URI,
    code_verifier: pending.verifier,
  });
}

async function refresh(session: Session): Promise<void> {
  const refreshToken = session.tokens?.refresh_token;
  session.refreshing ??= tokenRequest('token', { grant_type: 'refresh_token', refresh_token: refreshToken })
    .then((tokens) => void (session.tokens = tokens))
    .finally(() => delete session.refreshing);
  await session.refreshing;
}

async function disconnect(session: Session): Promise<void> {
  const refreshToken = session.tokens?.refresh_token;
  delete session.tokens;
  if (refreshToken !== undefined) await tokenRequest('revoke', { refresh_token: refreshToken });
}

/** The secret goes from this server to the service, and never to a browser. */
async function tokenRequest(operation: 'token' | 'revoke', body: object): Promise<Tokens> {
  const answer = await send(`${OAUTH}/${operation}`, { 'X-API-Key': CLIENT_SECRET }, body);
  if (!answer.success) throw new ApiFailure(answer);
  return answer.data as Tokens;
}

// --- calls on behalf of the user ---

/** One call of the open API; refreshes once where the access token has expired, forgets tokens that were revoked. */
async function call(session: Session, path: string, body?: object): Promise<unknown> {
  const attempt = (): Promise<Envelope> =>
    send(
      `${SERVICE}/api/open${path}`,
      { 'X-API-Key': CLIENT_SECRET, Authorization: `Bearer ${session.tokens?.access_token}` },
      body,
    );
  let answer = await attempt();
  if (answer.code === 'OPENAPI_REFRESH_REQUIRED') {
    await refresh(session);
    answer = await attempt();
  }
  if (answer.code === 'OPENAPI_REAUTH_REQUIRED') delete session.tokens;
  if (!answer.success) throw new ApiFailure(answer);
  return answer.data;
}

/** Every answer of the service is the envelope, errors included. */
async function send(address: string, headers: Record<string, string>, body?: object): Promise<Envelope> {
  const post = { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(address, {
    ...(body === undefined ? {} : post),
    headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    signal: AbortSignal.timeout(20_000),
  });
  return (await response.json()) as Envelope;
}

// --- pages ---

type Page = (session: Session, address: URL, form: URLSearchParams) => Promise<string | { redirect: string }>;

const PAGES: Record<string, Page> = {
  'GET /': async (session) => {
    if (session.tokens === undefined) return '<p><a href="/connect">Connect your account</a></p>';
    const who = await whoIsThis(session);
    return `<p>Connected${escape(who)}; allowed: ${escape(session.tokens.scope)}</p>
<form action="/resources"><label>Film <input name="tmdb_id" value="19995"></label> <button>Show resources</button></form>
${button('/refresh', 'Refresh the tokens')}
${button('/disconnect', 'Disconnect')}`;
  },
  'GET /connect': async (session) => ({ redirect: authorizationAddress(session) }),
  'GET /callback': async (session, address) => {
    await finishAuthorization(session, address.searchParams);
    return { redirect: '/' };
  },
  'GET /resources': async (session, address) => {
    const id = encodeURIComponent(address.searchParams.get('tmdb_id') ?? '');
    const found = (await call(session, `/resources/movie/${id}`)) as Resource[];
    const rows = found.map(
      ({ slug, title, pan_type, unlock_points, is_unlocked }) =>
        `<li>${escape(title ?? slug)} (${escape(pan_type ?? 'other')}, ${
          is_unlocked ? 'unlocked' : unlock_points === null ? 'free' : `${unlock_points} points`
        }) ${button('/unlock', 'Unlock', { slug })}</li>`,
    );
    return `<ul>${rows.join('\n')}</ul><p><a href="/">Back</a></p>`;
  },
  'POST /unlock': async (session, _, form) => {
    const unlocked = (await call(session, '/resources/unlock', { slug: form.get('slug') })) as {
      full_url: string;
      already_owned: boolean;
    };
    const when = unlocked.already_owned ? 'It was yours already' : 'Unlocked';
    return `<p>${when}: <code>${escape(unlocked.full_url)}</code></p><p><a href="/">Back</a></p>`;
  },
  'POST /refresh': async (session) => {
    await refresh(session);
    return { redirect: '/' };
  },
  'POST /disconnect': async (session) => {
    await disconnect(session);
    return { redirect: '/' };
  },
};

/** Profiles are for users with Premium who allowed them; everything else works without. */
async function whoIsThis(session: Session): Promise<string> {
  try {
    const me = (await call(session, '/me')) as { nickname: string; user_meta: { points: number } };
    return ` as ${me.nickname}, ${me.user_meta.points} points`;
  } catch (error) {
    if (error instanceof ApiFailure && ['VIP_REQUIRED', 'USER_SCOPE_NOT_ALLOWED'].includes(error.code)) return '';
    throw error;
  }
}

function button(action: string, label: string, fields: Record<string, string> = {}): string {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escape(value)}">`,
  );
  return `<form method="post" action="${action}">${hidden.join('')}<button>${label}</button></form>`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (symbol) => `&#${symbol.codePointAt(0)};`);
}

// --- the server ---

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const address = new URL(request.url ?? '/', REDIRECT_URI);
  const page = PAGES[`${request.method} ${address.pathname}`];
  if (page === undefined) return void response.writeHead(404).end('There is nothing here.\n');
  const session = sessionOf(request, response);
  response.setHeader('Content-Type', 'text/html; charset=utf-8').setHeader('Cache-Control', 'no-store');
  try {
    const result = await page(session, address, await formOf(request));
    if (typeof result === 'string') response.end(wholePage(result));
    else response.writeHead(303, { Location: result.redirect }).end();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const code = error instanceof ApiFailure ? ` (${escape(error.code)})` : '';
    response.statusCode = error instanceof ApiFailure ? 502 : 400;
    response.end(wholePage(`<p>${escape(reason)}${code}</p><p><a href="/">Back</a></p>`));
  }
}

function wholePage(content: string): string {
  return `<!doctype html><html lang="en"><title>A third-party application</title>\n${content}\n</html>\n`;
}

/** SameSite=Lax: other sites cannot send this application's forms with the cookie. */
function sessionOf(request: IncomingMessage, response: ServerResponse): Session {
  const id = /(?:^|;\s*)app_session=([\w-]{43})/.exec(request.headers.cookie ?? '')?.[1];
  const known = id === undefined ? undefined : sessions.get(id);
  if (known !== undefined) return known;
  const [oldest] = sessions.keys();
  if (sessions.size >= MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  const fresh = randomBytes(32).toString('base64url');
  const session: Session = {};
  sessions.set(fresh, session);
  response.setHeader('Set-Cookie', `app_session=${fresh}; HttpOnly; SameSite=Lax; Path=/`);
  return session;
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > LONGEST_BODY) throw new Error('That was too much.');
  }
  return new URLSearchParams(text);
}

function required(name: string): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  stderr.write(`${name} is missing: register an application on the developer pages, or run npm run seed:demo.\n`);
  return exit(1);
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.requestTimeout = 30_000;
server.listen(PORT, '127.0.0.1', () => stdout.write(`Open http://127.0.0.1:${PORT}/ in a browser.\n`));
