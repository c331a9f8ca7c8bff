import type { TunnelLogger } from '@gatehouse/tunnel-kernel';
import { namesCover } from '../common/certificate-facts.js';
import type { SecretBox } from '@gatehouse/net';
import { certificatePlace, createKeyBox, openKept } from '../common/key-box.js';
import { CertificateFiles } from '../common/certificate-files.js';
import type { Certificate } from './config-mapper.js';
import type { HostRow } from '../common/config-rows.js';

/** The certificate of each host: of its files, else the one that was uploaded or ordered for it. */
export class HostCertificates {
  private readonly files: CertificateFiles;
  private readonly box: SecretBox;
  private readonly logger: TunnelLogger;
  /** By host and what is sealed; of the hosts of the last configuration. */
  private opened = new Map<string, string | null>();
  private used = new Map<string, string | null>();

  /** `keys` open the keys of certificates that are in the database. */
  constructor(folder: string, keys: readonly Buffer[], logger: TunnelLogger) {
    this.files = new CertificateFiles(folder, (problem) => logger.warn('a certificate cannot be used', { problem }));
    this.box = createKeyBox(keys);
    this.logger = logger;
  }

  /** Whether a file is another than when it was read. */
  changed(): boolean {
    return this.files.changed();
  }

  /** Null where there is none that can be used. */
  of({ id, host, certPath, keyPath, certificate }: HostRow): Certificate | null {
    if (certPath !== null && keyPath !== null) return this.files.pair({ certPath, keyPath });
    // The name may be another than when it was uploaded. Snapshots of earlier versions have none.
    if (!certificate || !namesCover(certificate.names, host)) return null;
    const key = this.open(certificate.sealedKey, id);
    return key === null ? null : { chain: certificate.chain, key };
  }

  /** Every host has been asked for: what is not used any more is forgotten. */
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
