import type { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AcmeProblem, isObject, problemOf, retryTime } from './acme-problem.js';
import type { AcmeAnswer, AcmeTransport } from './acme-transport.js';
import { bindAccount, publicJwk, signJws } from './jws.js';

export interface AcmeClientOptions {
  transport: AcmeTransport;
  directory: string;
  accountKey: KeyObject;
  /** URL of the account, if known. */
  account: string | null;
  signal: AbortSignal;
}

export interface Registration {
  /** `mailto:` addresses. */
  contact: string[];
  binding: { kid: string; macKey: string } | null;
}

/** An answer of an authority: an object, its URL, and when to ask again (milliseconds since the epoch). */
export interface AcmeObject {
  url: string;
  value: Record<string, unknown>;
  retryAt: number | null;
}

/**
 * The order is repeated without `replaces` for a certificate that was already renewed, or that the authority or account
 * does not know. Let's Encrypt answers `malformed` for certificates of other authorities.
 */
const NOT_REPLACED = new Set(['alreadyReplaced', 'malformed', 'unauthorized', 'conflict']);
/** An authority may refuse any nonce; one that refuses this many in a row is broken. */
const MAX_NONCES = 25;
const POLL_MS = 1_000;
const LONGEST_POLL_MS = 30_000;
const POLL_LIMIT_MS = 300_000;
const KEPT_NONCES = 8;

/** An RFC 8555 client. Throws an AcmeProblem, or the reason of its signal. */
export class AcmeClient {
  private readonly options: AcmeClientOptions;
  private readonly nonces: string[] = [];
  private entries: Record<string, unknown> | null = null;
  private account: string | null;

  constructor(options: AcmeClientOptions) {
    this.options = options;
    this.account = options.account;
  }

  /** Creates the account, or finds the one of the key; returns its URL. */
  async register({ contact, binding }: Registration): Promise<string> {
    const url = await this.entry('newAccount');
    const meta = (await this.directory())['meta'];
    if (binding === null && isObject(meta) && meta['externalAccountRequired'] === true) {
      throw new AcmeProblem({ type: 'externalAccountRequired', detail: 'set ACME_EAB_KID and ACME_EAB_HMAC_KEY' });
    }
    const bound = binding && bindAccount(binding, url, this.options.accountKey);
    const payload = {
      termsOfServiceAgreed: true,
      ...(contact.length > 0 && { contact }),
      ...(bound && { externalAccountBinding: bound }),
    };
    this.account = null;
    const { headers } = await this.signed(url, payload);
    const { location } = headers;
    if (location === undefined) throw unexpected('the account has no address');
    this.account = new URL(location, url).href;
    return this.account;
  }

  /** `replaces`: the certificate that this order renews (RFC 9773 5). */
  async order(name: string, replaces: string | null): Promise<AcmeObject> {
    const url = await this.entry('newOrder');
    const identifiers = [{ type: 'dns', value: name }];
    const knows = replaces !== null && typeof (await this.directory())['renewalInfo'] === 'string';
    const answer = await this.signed(url, { identifiers, ...(knows && { replaces }) }).catch((error: unknown) => {
      if (!knows || !(error instanceof AcmeProblem) || !NOT_REPLACED.has(error.type)) throw error;
      return this.signed(url, { identifiers });
    });
    const { location } = answer.headers;
    if (location === undefined) throw unexpected('the order has no address');
    return this.object(new URL(location, url).href, answer);
  }

  async read(url: string): Promise<AcmeObject> {
    return this.object(url, await this.signed(url, null));
  }

  async send(url: string, payload: object): Promise<AcmeObject> {
    return this.object(url, await this.signed(url, payload));
  }

  /** Polls until the status is none of these. @throws AcmeProblem `timeout` */
  async settled(start: AcmeObject, unsettled: readonly string[]): Promise<AcmeObject> {
    const deadline = Date.now() + POLL_LIMIT_MS;
    let current = start;
    for (let wait = POLL_MS; unsettled.includes(String(current.value['status'])); wait *= 1.5) {
      const asked = current.retryAt === null ? wait : current.retryAt - Date.now();
      const pause = Math.min(Math.max(asked, POLL_MS / 4), LONGEST_POLL_MS);
      if (Date.now() + pause > deadline) {
        throw new AcmeProblem({ type: 'timeout', detail: `still ${String(current.value['status'])} after 5 minutes` });
      }
      await delay(pause, undefined, { signal: this.options.signal });
      current = await this.read(start.url);
    }
    return current;
  }

  /** The chain, PEM. */
  async certificate(url: string): Promise<string> {
    return (await this.signed(url, null, 'application/pem-certificate-chain')).text;
  }

  /** When a certificate should be renewed (RFC 9773 4); null if the authority does not support that. */
  async renewalInfo(certificateId: string): Promise<AcmeObject | null> {
    const base = (await this.directory())['renewalInfo'];
    if (typeof base !== 'string') return null;
    const url = `${base}/${certificateId}`;
    const { transport, signal } = this.options;
    return this.object(url, this.checked(await transport({ method: 'GET', url, signal })));
  }

  private async directory(): Promise<Record<string, unknown>> {
    if (this.entries) return this.entries;
    const { transport, directory, signal } = this.options;
    const answer = this.checked(await transport({ method: 'GET', url: directory, signal }));
    this.entries = parseObject(answer.text);
    return this.entries;
  }

  private async entry(name: string): Promise<string> {
    const url = (await this.directory())[name];
    if (typeof url !== 'string') throw unexpected(`its directory has no ${name}`);
    return url;
  }

  private async signed(url: string, payload: object | null, accept?: string): Promise<AcmeAnswer> {
    const { transport, accountKey, signal } = this.options;
    for (let left = MAX_NONCES; ; left--) {
      const nonce = this.nonces.pop() ?? (await this.newNonce());
      const who = this.account === null ? { jwk: publicJwk(accountKey) } : { kid: this.account };
      const body = JSON.stringify(signJws({ ...who, nonce, url }, payload, accountKey));
      const answer = await transport({ method: 'POST', url, body, signal, ...(accept !== undefined && { accept }) });
      this.keepNonce(answer);
      if (answer.status < 400) return answer;
      const problem = this.problem(answer);
      if (problem.type !== 'badNonce' || left <= 1) throw problem;
    }
  }

  private async newNonce(): Promise<string> {
    const { transport, signal } = this.options;
    this.keepNonce(this.checked(await transport({ method: 'HEAD', url: await this.entry('newNonce'), signal })));
    const nonce = this.nonces.pop();
    if (nonce === undefined) throw unexpected('it gave no nonce');
    return nonce;
  }

  private keepNonce({ headers }: AcmeAnswer): void {
    const nonce = headers['replay-nonce'];
    if (typeof nonce === 'string' && /^[A-Za-z0-9_-]{1,512}$/.test(nonce) && this.nonces.length < KEPT_NONCES) {
      this.nonces.push(nonce);
    }
  }

  private checked(answer: AcmeAnswer): AcmeAnswer {
    if (answer.status < 200 || answer.status >= 300) throw this.problem(answer);
    return answer;
  }

  private problem({ status, headers, text }: AcmeAnswer): AcmeProblem {
    return problemOf(tryParse(text), status, retryTime(headers['retry-after'], Date.now()));
  }

  private object(url: string, { text, headers }: AcmeAnswer): AcmeObject {
    return { url, value: parseObject(text), retryAt: retryTime(headers['retry-after'], Date.now()) };
  }
}

/** @throws AcmeProblem if there is no such text member. */
export function member({ value }: AcmeObject, name: string): string {
  const text = value[name];
  if (typeof text === 'string') return text;
  throw unexpected(`an answer has no ${name}`);
}

export function unexpected(detail: string): AcmeProblem {
  return new AcmeProblem({ type: 'answer', detail });
}

function parseObject(text: string): Record<string, unknown> {
  const value = tryParse(text);
  if (isObject(value)) return value;
  throw unexpected('it answered with something that is no JSON object');
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
