import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, writePrivate } from '@gatehouse/net';
import type { SecretBox } from '@gatehouse/persistence';
import type { EventBatch, RevisedConfig } from '../../common/kernel-ipc.js';
import type { GeoFilePaths } from '../kernel-geo.js';
import type { GeoContents } from '../../common/kernel-channel.js';
import { openSpoolFiles } from '../../common/spool-files.js';
import { RecordSpool } from '../record-spool.js';
import { spoolSeal } from './spool-seal.js';

const CONFIGURATION = 'configuration.sealed';
const UNSENT = 'unsent.sealed';
const ID = 'id';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The files of a separate kernel in its home. Configurations and records are sealed, since they contain credentials and
 * names.
 */
export class KernelStore {
  private readonly folder: string;
  private readonly box: SecretBox;

  constructor(home: string, box: SecretBox) {
    this.folder = join(home, 'proxy-kernel');
    this.box = box;
    makePrivateFolder(this.folder);
  }

  /** The id of this kernel, created at its first start. @throws Error of the file system. */
  id(): string {
    const known = readOrNull(join(this.folder, ID))?.toString('utf8').trim();
    if (known && UUID.test(known)) return known;
    const id = randomUUID();
    this.write(ID, `${id}\n`);
    return id;
  }

  saveConfiguration(config: RevisedConfig): void {
    this.save(CONFIGURATION, config);
  }

  /** Null if there is none. @throws SecretBoxError for another key, SyntaxError for a damaged file. */
  configuration(): RevisedConfig | null {
    return this.read<RevisedConfig>(CONFIGURATION);
  }

  saveUnsent(batches: readonly EventBatch[]): void {
    if (batches.length > 0) this.save(UNSENT, batches);
  }

  /** Null, after a warning, if nothing can be written. Lines are sealed. */
  openSpool(warn: (message: string) => void): RecordSpool | null {
    try {
      return new RecordSpool(openSpoolFiles(this.folder, 'records.sealed'), { warn, ...spoolSeal(this.box) });
    } catch (error) {
      warn(`Records that are not stored yet cannot be kept on disk: ${(error as Error).message}`);
      return null;
    }
  }

  /** Returns the batches of the previous run and removes them. */
  takeUnsent(): EventBatch[] {
    const batches = this.read<EventBatch[]>(UNSENT) ?? [];
    rmSync(join(this.folder, UNSENT), { force: true });
    return batches;
  }

  /** Stores databases that the service sent and returns their paths; null for one that it never sent. */
  saveGeo({ country, asn }: GeoContents): GeoFilePaths {
    for (const [kind, contents] of Object.entries({ country, asn })) {
      if (contents !== null) this.write(`${kind}.mmdb`, Buffer.from(contents, 'base64'));
    }
    return { country: country && join(this.folder, 'country.mmdb'), asn: asn && join(this.folder, 'asn.mmdb') };
  }

  /** The paths of databases from an earlier run. */
  geoFiles(): GeoFilePaths {
    return { country: this.existing('country.mmdb'), asn: this.existing('asn.mmdb') };
  }

  private existing(name: string): string | null {
    const file = join(this.folder, name);
    return readOrNull(file) === null ? null : file;
  }

  private save(name: string, value: unknown): void {
    this.write(name, this.box.seal(JSON.stringify(value)));
  }

  private read<T>(name: string): T | null {
    const sealed = readOrNull(join(this.folder, name));
    return sealed === null ? null : (JSON.parse(this.box.open(sealed.toString('utf8'))) as T);
  }

  private write(name: string, contents: string | Buffer): void {
    writePrivate(join(this.folder, name), contents);
  }
}

function readOrNull(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
