import { DestinationRules } from '@gatehouse/tunnel-kernel';
import { Problems } from './options/command-line.js';
import { EXIT } from './exit-codes.js';
import { GatewayApi, GatewayError } from './gateway/gateway-api.js';
import type { AgentWords } from './messages/index.js';
import { Publication } from './publish/publication.js';
import { proxiedDialer } from './proxy/proxy-dialer.js';
import type { PublishSettings } from './publish/publish-settings.js';
import type { Reporter } from './reporter.js';
import { RequestFeed } from './publish/request-feed.js';
import { runAgent, type RunningAgent } from './run-agent.js';
import { loginFailure } from './run-login.js';
import type { AgentSettings } from './options/settings.js';
import type { StatusPlace } from './status/status-place.js';
import type { Wanted } from './options/wanted.js';
import { readWay } from './options/way-settings.js';

/** Three attempts fit into a lease. */
const RENEW_MS = 30_000;
const GRACE_MS = 1_000;

export interface RunningPublication {
  /** Resolves to the exit code. */
  ended: Promise<number>;
  /** Takes everything down and ends. */
  stop: () => void;
}

export interface PublicationContext {
  reporter: Reporter;
  words: AgentWords;
  version: string;
  statusPlace: StatusPlace;
  /** Logs the user in at the terminal. Returns the API key. @throws GatewayError, LoginRefused */
  logIn: (settings: PublishSettings, signal: AbortSignal) => Promise<string>;
}

/** Publishes what the settings say until it is stopped. */
export function runPublication(settings: PublishSettings, context: PublicationContext): RunningPublication {
  const stopping = new AbortController();
  let agent: RunningAgent | null = null;
  const stop = (): void => {
    stopping.abort();
    agent?.stop();
  };
  const serve = async (): Promise<number> => {
    const { gateway: url, proxyFor } = settings;
    const { language } = context.words;
    const apiKey = settings.apiKey ?? (await context.logIn(settings, stopping.signal));
    const api = new GatewayApi({ url, apiKey, language, dialer: proxiedDialer(proxyFor) });
    const publication = await Publication.create(api, settings.publish);
    if (stopping.signal.aborted) return takeDown(publication, EXIT.stopped, context);
    agent = startAgent(publication, settings, context);
    const feed = new RequestFeed(api, (request) => context.reporter.request(request));
    void feed.follow(publication.hostIds);
    const renewing = setInterval(() => void renew(publication, context, () => agent?.stop()), RENEW_MS);
    const code = await agent.ended;
    clearInterval(renewing);
    feed.stop();
    return takeDown(publication, code, context);
  };
  const ended = serve().catch((error: unknown) => {
    if (stopping.signal.aborted && (error as Error).name === 'AbortError') return EXIT.stopped;
    return reportRefusal(error, settings, context);
  });
  return { ended, stop };
}

/** Returns the exit code. @throws what is no refusal */
function reportRefusal(
  error: unknown,
  { isLogin, gateway }: PublishSettings,
  { reporter, words }: PublicationContext,
): number {
  const reason = error instanceof GatewayError ? error.message : loginFailure(error, words);
  reporter.error(words.text('publish.refused', { reason }));
  if (!(error instanceof GatewayError) || error.status !== 401) return EXIT.refused;
  if (isLogin) reporter.error(words.text('login.ended', { gateway }));
  return EXIT.key;
}

function startAgent(
  { key, server, published }: Publication,
  { publish, log, proxy }: PublishSettings,
  { reporter, version, statusPlace }: PublicationContext,
): RunningAgent {
  const problems = new Problems();
  const agent: AgentSettings = {
    ...readWay({ server, transport: undefined, proxy }, problems),
    key,
    keyFile: undefined,
    // Whatever is changed at the gateway meanwhile, this machine gives nothing else.
    allow: new DestinationRules(publish.flatMap((one) => ('target' in one ? [one.target] : [NOTHING]))),
    deny: new DestinationRules([]),
    fileRoots: publish.flatMap((one: Wanted) => (one.kind === 'share' ? [one.folder] : [])),
    log,
    graceMs: GRACE_MS,
    p2p: false,
    requireEncryption: false,
    replica: false,
  };
  problems.throwIfAny();
  let announced = false;
  const onOnline = (): void => {
    if (!announced) reporter.published(published);
    announced = true;
  };
  return runAgent(agent, { reporter, version, statusPlace, onOnline });
}

/** No rules at all would allow everything. Nobody can have this port. */
const NOTHING = '0.0.0.0:1';

async function renew(publication: Publication, { reporter, words }: PublicationContext, gone: () => void) {
  try {
    await publication.renew();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof GatewayError && error.status === 404) {
      reporter.error(words.text('publish.deleted'));
      gone();
    } else reporter.warn(words.text('publish.notRenewed', { reason }));
  }
}

async function takeDown(
  publication: Publication,
  code: number,
  { reporter, words }: PublicationContext,
): Promise<number> {
  try {
    await publication.remove();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    reporter.warn(words.text('publish.notRemoved', { reason }));
  }
  return code;
}
