import { createHash, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { TunnelLogger } from '../environment.js';
import type { HostConfig } from '../config.js';
import { canonicalHostName } from './authority.js';

/** PEM texts. */
export interface ServerCertificate {
  chain: string;
  key: string;
}

export interface CertificateOptions {
  logger: TunnelLogger;
  /** For visitors that send no server name, or one without a certificate. Absent: they are refused. */
  fallback?: ServerCertificate | undefined;
  /** Called for names of hosts without a certificate of their own. */
  provide?: ((name: string) => ServerCertificate | null | Promise<ServerCertificate | null>) | undefined;
}

/** Each context takes about 30 KiB. */
const CONTEXT_LIMIT = 1024;
export const MIN_TLS_VERSION = 'TLSv1.2';
/** Only forward-secret, authenticated suites. */
export const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

interface Loaded {
  context: SecureContext;
  leaf: X509Certificate;
}

/** The certificates of all hosts, and TLS contexts of those that were used last. */
export class CertificateTable {
  private readonly options: CertificateOptions;
  /** Keyed by name, by what follows the `*`, and by `*`. Null: a host of this name has no certificate of its own. */
  private names = new Map<string, ServerCertificate | null>();
  private readonly loaded = new Map<string, Loaded>();
  /** Keyed by the server name that the visitor sent. */
  private readonly shown = new Map<string, X509Certificate>();

  constructor(options: CertificateOptions) {
    this.options = options;
  }

  /** Applies to new handshakes; open connections keep their certificate. */
  apply(hosts: readonly HostConfig[]): void {
    const names = new Map<string, ServerCertificate | null>();
    for (const { host, scheme, certificate } of [...hosts].sort((a, b) => a.id - b.id)) {
      if (scheme === 'http') continue;
      const name =
        host === '*' ? '*' : host.startsWith('*.') ? `.${canonicalHostName(host.slice(2))}` : canonicalHostName(host);
      if (name !== null) names.set(name, names.get(name) ?? certificate);
    }
    this.names = names;
  }

  /** The context for a visitor that sends `name` (null: none). Null: there is no usable certificate. */
  async context(name: string | null): Promise<SecureContext | null> {
    const certificate = await this.find(name);
    const loaded = certificate && this.load(certificate);
    if (loaded && name !== null) remember(this.shown, name, loaded.leaf);
    return loaded?.context ?? null;
  }

  /** Whether the certificate that was shown for `name` is valid for `host` too. */
  covers(name: string, host: string): boolean {
    return this.shown.get(name)?.checkHost(host) !== undefined;
  }

  private async find(name: string | null): Promise<ServerCertificate | null> {
    const { fallback, provide } = this.options;
    const entries = name === null ? [] : this.entriesOf(name);
    const own = entries.find((entry) => entry !== null);
    if (own) return own;
    // Names without a host are not looked up: anybody can make them up.
    const provided = name !== null && entries.length > 0 ? await provide?.(name) : null;
    return provided ?? fallback ?? null;
  }

  /** The most specific entry comes first. */
  private entriesOf(name: string): (ServerCertificate | null)[] {
    const entries = [this.names.get(name)];
    for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
      entries.push(this.names.get(name.slice(dot)));
    }
    entries.push(this.names.get('*'));
    return entries.filter((entry) => entry !== undefined);
  }

  private load({ chain, key }: ServerCertificate): Loaded | null {
    const id = createHash('sha256').update(chain).update(key).digest('base64');
    let loaded = this.loaded.get(id);
    try {
      loaded ??= {
        context: createSecureContext({
          cert: chain,
          key,
          ciphers: CIPHERS,
          honorCipherOrder: true,
          minVersion: MIN_TLS_VERSION,
          sessionIdContext: 'gatehouse',
        }),
        leaf: new X509Certificate(chain),
      };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.options.logger.warn('a certificate cannot be used', { error: message });
      return null;
    }
    remember(this.loaded, id, loaded);
    return loaded;
  }
}

/** The most recently used entry is evicted last. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > CONTEXT_LIMIT) map.delete(map.keys().next().value ?? '');
}
