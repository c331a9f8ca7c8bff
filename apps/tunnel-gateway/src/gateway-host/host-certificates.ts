import { namesCover } from '../certificates/certificate-facts.js';
import { KeyBox } from '../certificates/key-box.js';
import type { CertificateFiles } from './certificate-files.js';
import type { Certificate } from './config-mapper.js';
import type { HostRow } from './config-rows.js';

export interface HostCertificateSources {
  files: CertificateFiles;
  /** Opens the keys of certificates that are in the database. */
  key: Buffer;
  onProblem(message: string, hostId: number): void;
}

/** The certificate of each host: of its files, else the one that was uploaded or ordered for it. */
export class HostCertificates {
  private readonly sources: HostCertificateSources;
  private readonly box: KeyBox;
  /** By what is sealed; of the hosts of the last configuration. */
  private opened = new Map<string, string | null>();
  private used = new Map<string, string | null>();

  constructor(sources: HostCertificateSources) {
    this.sources = sources;
    this.box = new KeyBox(sources.key);
  }

  /** Null where there is none that can be used. */
  of({ id, host, certPath, keyPath, certificate }: HostRow): Certificate | null {
    if (certPath !== null && keyPath !== null) return this.sources.files.pair({ certPath, keyPath });
    // The name may be another than when it was uploaded. Snapshots of earlier versions have none.
    if (!certificate || !namesCover(certificate.names, host)) return null;
    const key = this.open(certificate.sealedKey, id);
    return key === null ? null : { chain: certificate.chain, key };
  }

  /** Every host has been asked for: what is not used any more is forgotten. */
  settle(): void {
    this.opened = this.used;
    this.used = new Map();
  }

  private open(sealed: string, hostId: number): string | null {
    const known = this.used.get(sealed) ?? this.opened.get(sealed);
    const key = known === undefined ? this.unseal(sealed, hostId) : known;
    this.used.set(sealed, key);
    return key;
  }

  private unseal(sealed: string, hostId: number): string | null {
    try {
      return this.box.open(sealed);
    } catch (error) {
      this.sources.onProblem(error instanceof Error ? error.message : String(error), hostId);
      return null;
    }
  }
}
