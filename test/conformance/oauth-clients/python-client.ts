import { fileURLToPath } from 'node:url';
import { TokenRefused, type ClientSetup, type OAuthClient, type TokenSet } from './client.js';
import { LineProgram } from './line-program.js';

const SCRIPT = fileURLToPath(new URL('python_clients.py', import.meta.url));

/** Both libraries refuse http else, even on the loopback. */
export const PYTHON_ENVIRONMENT = { AUTHLIB_INSECURE_TRANSPORT: '1', OAUTHLIB_INSECURE_TRANSPORT: '1' };

export type PythonLibrary = 'authlib' | 'requests-oauthlib';

interface PythonTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string | readonly string[];
}

/** A library of Python in a process of its own. */
export class PythonClient implements OAuthClient, Disposable {
  readonly #program: LineProgram;

  constructor(python: string, library: PythonLibrary, setup: ClientSetup) {
    this.#program = new LineProgram(python, [SCRIPT, JSON.stringify({ ...setup, library })], PYTHON_ENVIRONMENT);
  }

  authorizationUrl(): Promise<string> {
    return this.#ask('authorization_url') as Promise<string>;
  }

  async exchange(callback: URL): Promise<TokenSet> {
    return toTokenSet(await this.#ask('exchange', callback.href));
  }

  async refresh(refreshToken: string): Promise<TokenSet> {
    return toTokenSet(await this.#ask('refresh', refreshToken));
  }

  async revoke({ refreshToken }: TokenSet): Promise<void> {
    await this.#ask('revoke', refreshToken);
  }

  introspect(token: string): Promise<boolean> {
    return this.#ask('introspect', token) as Promise<boolean>;
  }

  [Symbol.dispose](): void {
    this.#program[Symbol.dispose]();
  }

  async #ask(name: string, ...values: string[]): Promise<unknown> {
    const { result, refused, failed } = await this.#program.ask(name, ...values);
    if (refused !== undefined) throw new TokenRefused(refused, undefined);
    if (failed !== undefined) throw new Error(`${name} failed in Python: ${failed}`);
    return result;
  }
}

function toTokenSet(answer: unknown): TokenSet {
  const { access_token, refresh_token, scope } = answer as PythonTokens;
  return { accessToken: access_token, refreshToken: refresh_token, scope: [scope].flat().join(' ') };
}
