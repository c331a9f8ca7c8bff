import type { TunnelLogger } from '@gatehouse/tunnel-kernel';
import { namesCover } from '../common/certificate-facts.js';
import type { SecretBox } from '@gatehouse/net';
import { certificatePlace, createKeyBox, openKept } from '../common/key-box.js';
import { CertificateFiles } from '../common/certificate-files.js';
import type { Certificate } from './config-mapper.js';
import type { HostRow } from '../common/config-rows.js';

/** The certificates of hosts: from files, else uploaded or ordered ones. */
export class HostCertificates {
  private readonly files: CertificateFiles;
  private readonly box: SecretBox;
  private readonly logger: TunnelLogger;
  /** Opened keys by host and sealed text, for hosts of the last configuration. */
  private opened = new Map<string, string | null>();
  private used = new Map<string, string | null>();

  /** `keys` open the private keys in the database. */
  constructor(folder: string, keys: readonly Buffer[], logger: TunnelLogger) {
    this.files = new CertificateFiles(folder, (problem) => logger.warn('a certificate cannot be used', { problem }));
    this.box = createKeyBox(keys);
    this.logger = logger;
  }

  /** Whether a certificate file has changed since it was read. */
  changed(): boolean {
    return this.files.changed();
  }

  /** Null if there is no usable certificate. */
  of({ id, host, certPath, keyPath, certificate }: HostRow): Certificate | null {
    if (certPath !== null && keyPath !== null) return this.files.pair({ certPath, keyPath });
    // The host's name may have changed since the upload. Snapshots of earlier versions have no names.
    if (!certificate || !namesCover(certificate.names, host)) return null;
    const key = this.open(certificate.sealedKey, id);
    return key === null ? null : { chain: certificate.chain, key };
  }

  /** Called after `of` was called for every host: drops what is no longer used. */
  settle(): void {
    this.files.settle();
    this.opened = this.used;
    this.used = new Map();
  }

  private open(sealed: string, hostId: number): string | null {
    const name = `${hostId} ${sealed}`;
    const known = this.used.get(name) ?? this.opened.get(name);
    const key = known === undefined ? this.unseal(sealed, hostId) : known;
    this.used.set(name, key);
    return key;
  }

  private unseal(sealed: string, hostId: number): string | null {
    try {
      return openKept(this.box, certificatePlace(hostId), sealed);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.logger.warn('a certificate cannot be used', { host: hostId, problem });
      return null;
    }
  }
}
