import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { TokenRefused, type ClientSetup, type OAuthClient, type TokenSet } from './client.js';

const SCRIPT = fileURLToPath(new URL('python_clients.py', import.meta.url));

export type PythonLibrary = 'authlib' | 'requests-oauthlib';

interface Answer {
  readonly result?: unknown;
  readonly refused?: string;
  readonly failed?: string;
}

interface PythonTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string | readonly string[];
}

/** A library of Python in a process of its own, which ends with its standard input. */
export class PythonClient implements OAuthClient, Disposable {
  readonly #child;
  readonly #answers: AsyncIterator<string>;
  #errors = '';

  constructor(python: string, library: PythonLibrary, setup: ClientSetup) {
    this.#child = spawn(python, [SCRIPT, JSON.stringify({ ...setup, library })], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Both refuse http else, even on the loopback.
      env: { ...process.env, AUTHLIB_INSECURE_TRANSPORT: '1', OAUTHLIB_INSECURE_TRANSPORT: '1' },
    });
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#errors = (this.#errors + chunk.toString()).slice(-4000)));
    this.#child.on('error', (error) => (this.#errors += error.message));
    this.#child.stdin.on('error', () => undefined); // an early end shows in the missing answer
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
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
    this.#child.stdin.end();
  }

  async #ask(name: string, ...values: string[]): Promise<unknown> {
    this.#child.stdin.write(`${JSON.stringify([name, ...values])}\n`);
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error(`the Python client ended: ${this.#errors}`);
    const { result, refused, failed } = JSON.parse(value) as Answer;
    if (refused !== undefined) throw new TokenRefused(refused, undefined);
    if (failed !== undefined) throw new Error(`${name} failed in Python: ${failed}`);
    return result;
  }
}

function toTokenSet(answer: unknown): TokenSet {
  const { access_token, refresh_token, scope } = answer as PythonTokens;
  return { accessToken: access_token, refreshToken: refresh_token, scope: [scope].flat().join(' ') };
}
