import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT } from './exit-codes.js';
import { logInByCode, LoginRefused } from './gateway/device-login.js';
import { GatewayApi, GatewayError } from './gateway/gateway-api.js';
import type { KeptLogins } from './gateway/kept-logins.js';
import type { LoginSettings } from './gateway/login-settings.js';
import type { AgentWords } from './messages/index.js';
import { proxiedDialer } from './proxy/proxy-dialer.js';
import { qrLines } from './qr-lines.js';
import type { Output } from './reporter.js';

/** As much as the gateway takes. */
const MAX_NAME = 64;

export interface LoginContext {
  words: AgentWords;
  output: Output;
  logins: KeptLogins;
}

export interface RunningLogin {
  /** Resolves to the exit code. */
  ended: Promise<number>;
  stop: () => void;
}

/** Logs this machine in at a gateway, or out. */
export function runLogin(settings: LoginSettings, context: LoginContext): RunningLogin {
  const stopping = new AbortController();
  const work =
    settings.action === 'logout'
      ? logOut(settings, context)
      : logIn(settings, context, stopping.signal).then(keyIsKept);
  const ended = work.catch((error: unknown) => {
    if (stopping.signal.aborted) return EXIT.stopped;
    context.output.write(`${loginFailure(error, context.words)}\n`);
    return EXIT.refused;
  });
  return { ended, stop: () => stopping.abort() };
}

const keyIsKept = (): number => EXIT.stopped;

/** Why there is no login. @throws what is none of its errors */
export function loginFailure(error: unknown, words: AgentWords): string {
  if (error instanceof LoginRefused) return words.text(`login.${error.reason}`);
  if (error instanceof GatewayError) return words.text('login.failed', { reason: error.message });
  throw error;
}

/** The API key, which is also kept. @throws GatewayError, LoginRefused */
export async function logIn(
  { gateway, proxyFor }: Pick<LoginSettings, 'gateway' | 'proxyFor'>,
  { words, output, logins }: LoginContext,
  signal: AbortSignal,
): Promise<string> {
  const address = { url: gateway, language: words.language, dialer: proxiedDialer(proxyFor) };
  const login = await logInByCode(new GatewayApi(address), {
    machine: hostname().slice(0, MAX_NAME),
    show: ({ verification_uri: page, verification_uri_complete: complete, user_code: code }) => {
      const lines = qrLines(complete).map((line) => `  ${line}\n`);
      output.write(`\n  ${words.text('login.open', { page, code })}\n\n${lines.join('')}\n`);
      output.write(`  ${words.text('login.waiting')}\n\n`);
    },
    wait: (ms) => delay(ms, undefined, { signal }),
    now: Date.now,
  });
  const former = logins.find(gateway);
  const path = logins.keep(gateway, login);
  output.write(`${words.text('login.done', { gateway, username: login.username, path })}\n`);
  // What replaces it is kept: that the old one cannot be revoked now is no reason to fail.
  if (former) await revoke({ ...address, apiKey: former.api_key }).catch(() => undefined);
  return login.api_key;
}

async function logOut({ gateway, proxyFor }: LoginSettings, { words, output, logins }: LoginContext): Promise<number> {
  const login = logins.find(gateway);
  if (login === undefined) {
    output.write(`${words.text('login.none', { gateway })}\n`);
    return EXIT.stopped;
  }
  try {
    await revoke({ url: gateway, apiKey: login.api_key, language: words.language, dialer: proxiedDialer(proxyFor) });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const path = logins.pathOf(gateway);
    output.write(`${words.text('login.notRevoked', { reason: error.message, path })}\n`);
    return EXIT.refused;
  }
  logins.remove(gateway);
  output.write(`${words.text('login.out', { gateway })}\n`);
  return EXIT.stopped;
}

/** @throws GatewayError, except if the gateway does not know the key any longer */
async function revoke(address: ConstructorParameters<typeof GatewayApi>[0]): Promise<void> {
  try {
    await new GatewayApi(address).call('DELETE', '/api-keys/current');
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status !== 401) throw error;
  }
}
