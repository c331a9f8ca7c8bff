import { readAtMost } from '@gatehouse/net';
import type { KernelProbe } from '@gatehouse/proxy-kernel';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';

const TIMEOUT_MS = 10_000;
/** A list of many thousand connections is smaller than this; a larger answer is refused. */
const MAX_BODY_BYTES = 64 * 1_048_576;

/** mihomo takes no longer time for a measurement. */
const MAX_DELAY_MS = 32_767;
/** Measurements must not hold up each other, nor the other calls. */
const MAX_CALLS = 256;

export type DelayOptions = Pick<KernelProbe, 'url' | 'expectedStatus' | 'timeoutMs'>;

/** An error with mihomo's own message. */
export class MihomoRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'MihomoRefusal';
    this.status = status;
  }
}

/** An open connection as reported by mihomo. Ports are strings there. */
export interface MihomoConnection {
  id: string;
  metadata: {
    network: string;
    type: string;
    sourceIP: string;
    sourcePort: string;
    destinationIP: string;
    destinationPort: string;
    host: string;
    sniffHost?: string;
    inboundName?: string;
    inboundUser?: string;
    remoteDestination?: string;
    /** `fake-ip`, `normal` and others. */
    dnsMode?: string;
  };
  upload: number;
  download: number;
  start: string;
  /** From the node to the group that the rule named. */
  chains: string[];
  /** For example `DomainSuffix`. */
  rule: string;
  rulePayload: string;
}

export interface MihomoConnections {
  downloadTotal: number;
  uploadTotal: number;
  /** Null when there is none. */
  connections: MihomoConnection[] | null;
}

/** A rule in the order of the configuration, in the form that logs and connections have, too. */
export interface MihomoRule {
  type: string;
  payload: string;
  proxy: string;
}

export interface MihomoGroup {
  name: string;
  type: string;
  all?: string[];
  now?: string;
  fixed?: string;
}

/** A client of mihomo's controller, over its socket. Methods throw MihomoRefusal for an error status. */
export class MihomoApi {
  readonly #client: Agent;

  constructor(socketPath: string) {
    this.#client = new Agent({ connect: { socketPath }, connections: MAX_CALLS });
  }

  version(): Promise<{ version: string }> {
    return this.#ask('GET', '/version');
  }

  /** Applies the whole configuration; if it is refused, the present one stays. */
  async load(config: object): Promise<void> {
    await this.#ask('PUT', '/configs?force=true', { payload: JSON.stringify(config) });
  }

  proxies(): Promise<{ proxies: Record<string, MihomoGroup> }> {
    return this.#ask('GET', '/proxies');
  }

  /**
   * The milliseconds until a test address answered through a node.
   * @throws MihomoRefusal with the status 504 if it did not in time, 503 if it failed.
   */
  async delay(tag: string, { url, expectedStatus, timeoutMs }: DelayOptions): Promise<number> {
    const query = new URLSearchParams({
      url,
      expected: expectedStatus,
      timeout: String(Math.min(timeoutMs, MAX_DELAY_MS)),
    });
    const path = `/proxies/${encodeURIComponent(tag)}/delay?${query.toString()}`;
    return (await this.#ask<{ delay: number }>('GET', path, undefined, timeoutMs + TIMEOUT_MS)).delay;
  }

  async rules(): Promise<MihomoRule[]> {
    return (await this.#ask<{ rules: MihomoRule[] }>('GET', '/rules')).rules;
  }

  async select(group: string, member: string): Promise<void> {
    await this.#ask('PUT', `/proxies/${encodeURIComponent(group)}`, { name: member });
  }

  /** Lets the group decide again. */
  async unfix(group: string): Promise<void> {
    await this.#ask('DELETE', `/proxies/${encodeURIComponent(group)}`);
  }

  connections(): Promise<MihomoConnections> {
    return this.#ask('GET', '/connections');
  }

  async closeConnection(id: string): Promise<void> {
    await this.#ask('DELETE', `/connections/${encodeURIComponent(id)}`);
  }

  async closeConnections(): Promise<void> {
    await this.#ask('DELETE', '/connections');
  }

  async close(): Promise<void> {
    await this.#client.destroy();
  }

  async #ask<T>(method: Dispatcher.HttpMethod, path: string, body?: object, timeoutMs = TIMEOUT_MS): Promise<T> {
    const { statusCode, body: answer } = await this.#client.request({
      origin: 'http://mihomo',
      method,
      path,
      bodyTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
    });
    const content = await readAtMost(answer, MAX_BODY_BYTES);
    if (content === null) throw new Error(`mihomo's answer is longer than ${MAX_BODY_BYTES} bytes`);
    const text = content.toString();
    const value: unknown = text === '' ? null : JSON.parse(text);
    if (statusCode < 200 || statusCode >= 300) throw new MihomoRefusal(statusCode, messageOf(value, statusCode));
    return value as T;
  }
}

function messageOf(value: unknown, status: number): string {
  if (typeof value === 'object' && value !== null && 'message' in value) return String(value.message);
  return `mihomo answered ${status}`;
}
