import { join } from 'node:path';
import type { GeoDatabaseName } from '@gatehouse/contracts';
import { PgListener } from '@gatehouse/persistence';
import { openAsnDatabase, openCountryDatabase, openGeositeFile } from '@gatehouse/proxy-kernel';
import type { AsnLookup, CountryLookup, GeositeFile } from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { readBundledCountryFile } from '@gatehouse/geo';
import { ProxyGatewaySettings } from '../settings.js';
import { GeoFiles } from './geo-files.js';
import { GEO_DATABASE_NAMES, GEO_SOURCES } from './geo-sources.js';
import { GEO_CHANNEL, GeoStore } from './geo-store.js';

/** The paths of the databases for the kernel's process; null for none, or to use the bundled one. */
export interface GeoPaths {
  country: string | null;
  asn: string | null;
}

/** Checks for changes this often, in case a notification was missed. */
const RENEW_MS = 300_000;

/** The databases as this process uses them: copied to its disk, opened on first use, and reopened when they change. */
@Injectable()
export class GeoLibrary implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Geo');
  private readonly files: GeoFiles;
  private readonly listeners = new Set<() => void>();
  /** The databases on disk, with the hash of their content. */
  private present = new Map<GeoDatabaseName, string>();
  private opened: { country?: CountryLookup; asn?: AsnLookup; geosite?: GeositeFile | null } = {};
  /** Lists that have been looked up; there are at most as many as the rules name. */
  private readonly siteEntries = new Map<string, readonly string[]>();
  private renewing: Promise<void> = Promise.resolve();
  private stopListening: (() => Promise<void>) | undefined;

  constructor(
    private readonly store: GeoStore,
    private readonly listener: PgListener,
    settings: ProxyGatewaySettings,
  ) {
    this.files = new GeoFiles(join(settings.home, 'geo'));
  }

  async onModuleInit(): Promise<void> {
    const renew = (): void => void this.renew();
    this.stopListening = await this.listener.listen(GEO_CHANNEL, renew, renew, { renewMs: RENEW_MS });
    await this.renew();
  }

  async onModuleDestroy(): Promise<void> {
    this.listeners.clear();
    await this.stopListening?.();
    await this.renewing;
  }

  /** The listener is called after databases have changed here. */
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  readonly country: CountryLookup = (ip) => {
    this.opened.country ??= this.openCountry();
    return this.opened.country(ip);
  };

  readonly asn: AsnLookup = (ip) => {
    this.opened.asn ??= this.openFile('asn', (content) => openAsnDatabase(content).lookup) ?? (() => null);
    return this.opened.asn(ip);
  };

  /** The entries of a list of sites; null if there is no such list. Returns the same array until the file changes. */
  site(code: string): readonly string[] | null {
    if (this.opened.geosite === undefined) this.opened.geosite = this.openFile('geosite', openGeositeFile);
    const known = this.siteEntries.get(code);
    if (known !== undefined) return known;
    const entries = this.opened.geosite?.entries(code) ?? null;
    if (entries !== null) this.siteEntries.set(code, entries);
    return entries;
  }

  /** The paths for the kernel. `geoip`, if there is one, takes precedence over `country`. */
  paths(): GeoPaths {
    return { country: this.pathOf('geoip') ?? this.pathOf('country'), asn: this.pathOf('asn') };
  }

  /** Copies changed databases to the disk, one run at a time. A failure leaves the present files. */
  renew(): Promise<void> {
    this.renewing = this.renewing
      .then(() => this.bringAll())
      .catch((error: unknown) => this.logger.error('The geo databases could not be brought up to date here', error));
    return this.renewing;
  }

  private async bringAll(): Promise<void> {
    let changed = false;
    for (const [name, { sha256 }] of await this.store.rows()) {
      if (sha256 === null || this.present.get(name) === sha256 || !(name in GEO_SOURCES)) continue;
      if (!(await this.bring(name, sha256))) continue;
      this.present.set(name, sha256);
      changed = true;
    }
    if (!changed) return;
    this.opened = {};
    this.siteEntries.clear();
    for (const listener of this.listeners) listener();
  }

  private async bring(name: GeoDatabaseName, sha256: string): Promise<boolean> {
    const { file } = GEO_SOURCES[name];
    if ((await this.files.read(file, sha256)) !== null) return true;
    const content = await this.store.content(name);
    if (content === null) return false;
    try {
      await this.files.write(file, content);
      return true;
    } catch (error) {
      this.logger.error(
        `The ${name} database cannot be written to ${this.files.folder}; the previous one stays in use`,
        error,
      );
      return false;
    }
  }

  private pathOf(name: GeoDatabaseName): string | null {
    return this.present.has(name) ? this.files.path(GEO_SOURCES[name].file) : null;
  }

  private openCountry(): CountryLookup {
    const found = this.openFile('country', (content) => openCountryDatabase(content).lookup);
    if (found !== null) return found;
    try {
      return openCountryDatabase(readBundledCountryFile()).lookup;
    } catch (error) {
      this.logger.warn('The bundled country database cannot be read; countries come from names only', error);
      return () => null;
    }
  }

  /** Null without a file, and for a file that was damaged after it was checked. */
  private openFile<T>(name: (typeof GEO_DATABASE_NAMES)[number], open: (content: Buffer) => T): T | null {
    const path = this.pathOf(name);
    if (path === null) return null;
    try {
      return open(readFileSync(path));
    } catch (error) {
      this.logger.error(`The ${name} database cannot be opened`, error);
      return null;
    }
  }
}
