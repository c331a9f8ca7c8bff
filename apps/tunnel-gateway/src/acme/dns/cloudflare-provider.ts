import { readAtMost } from '@gatehouse/net';
import type { DnsProvider } from './dns-provider.js';

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 512 * 1024;
const TTL_SECONDS = 60;

export interface CloudflareOptions {
  /** Of an API token with the permission DNS:Edit for the zones. */
  token: string;
  /** `https://api.cloudflare.com/client/v4` */
  url: string;
}

interface Answer {
  success?: boolean;
  errors?: { message?: string }[];
  result?: unknown;
}

/** Cloudflare's API, version 4. */
export class CloudflareProvider implements DnsProvider {
  private readonly options: CloudflareOptions;

  constructor(options: CloudflareOptions) {
    this.options = options;
  }

  async add(name: string, value: string, signal: AbortSignal): Promise<(signal: AbortSignal) => Promise<void>> {
    const zone = await this.zoneOf(name, signal);
    const record = { type: 'TXT', name, content: `"${value}"`, ttl: TTL_SECONDS };
    const path = `/zones/${zone}/dns_records`;
    const id = idOf(await this.ask('POST', path, signal, record));
    return async (later) => void (await this.ask('DELETE', `${path}/${id}`, later));
  }

  /** The zone with the longest name that the token may change. */
  private async zoneOf(name: string, signal: AbortSignal): Promise<string> {
    const labels = name.split('.');
    for (let from = 1; from < labels.length - 1; from += 1) {
      const zone = labels.slice(from).join('.');
      const found = await this.ask('GET', `/zones?name=${encodeURIComponent(zone)}`, signal);
      if (Array.isArray(found) && found.length > 0) return idOf(found[0]);
    }
    throw new Error(`Cloudflare: there is no zone for ${name} that the token may change`);
  }

  private async ask(method: string, path: string, signal: AbortSignal, body?: object): Promise<unknown> {
    const { url, token } = this.options;
    const ends = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        redirect: 'error',
        signal: ends,
        ...(body && { body: JSON.stringify(body) }),
      });
      const content = response.body && (await readAtMost(response.body, MAX_ANSWER_BYTES));
      if (content === null) throw new Error('its answer is empty or too long');
      const answer = JSON.parse(content.toString()) as Answer;
      if (response.ok && answer.success === true) return answer.result;
      const reasons = answer.errors?.map(({ message }) => message).join(', ');
      throw new Error(`it answered with ${response.status}${reasons ? `: ${reasons}` : ''}`);
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Cloudflare: ${reason}`, { cause: error });
    }
  }
}

/** Ids go into paths. */
function idOf(found: unknown): string {
  const id = typeof found === 'object' && found !== null && 'id' in found ? String(found.id) : '';
  if (!/^[0-9a-z-]{1,64}$/i.test(id)) throw new Error('its answer has no id');
  return id;
}
