import { GEO_DATABASE_NAMES } from '@gatehouse/contracts';
import type { GeoDatabaseName, GeoUpdateResult } from '@gatehouse/contracts';
import { Injectable, Logger } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { GeoDownloader, GeoDownloadError } from './geo-download.js';
import type { Via } from './geo-download.js';
import { GEO_SOURCES } from '../geo/geo-sources.js';
import { GeoStore } from '../geo/geo-store.js';
import type { GeoRow } from '../geo/geo-store.js';

/** Updates every database that has an address. They are independent: one that fails does not hold up the others. */
@Injectable()
export class UpdateGeo {
  private readonly logger = new Logger('Geo');

  constructor(
    private readonly store: GeoStore,
    private readonly downloader: GeoDownloader,
    private readonly preferences: Preferences,
  ) {}

  /** Returns null while another update runs. */
  async run(force: boolean): Promise<GeoUpdateResult | null> {
    const claim = await this.store.claim();
    if (claim === null) return null;
    try {
      return await this.updateAll(force);
    } finally {
      await this.store.release(claim);
    }
  }

  private async updateAll(force: boolean): Promise<GeoUpdateResult> {
    const began = performance.now();
    const rows = await this.store.rows();
    const result: GeoUpdateResult = { updated: [], not_modified: [], failed: [], duration_ms: 0, via: null };
    for (const name of GEO_DATABASE_NAMES) {
      const urls = this.preferences.get(GEO_SOURCES[name].setting);
      if (urls.length === 0) continue;
      await this.updateOne(name, force ? undefined : rows.get(name), urls, result);
    }
    result.duration_ms = Math.round(performance.now() - began);
    return result;
  }

  private async updateOne(
    name: GeoDatabaseName,
    present: GeoRow | undefined,
    urls: readonly string[],
    result: GeoUpdateResult,
  ): Promise<void> {
    try {
      const got = await this.downloader.download(name, present, urls);
      result.via = strongest(result.via, got.via);
      if (got.kind === 'not_modified') {
        await this.store.confirm(name, got.origin);
        result.not_modified.push(name);
        return;
      }
      await this.store.replace(name, got, got.origin);
      result.updated.push(name);
      this.logger.log(`The ${name} database was updated: ${got.content.length} bytes`);
    } catch (error) {
      if (!(error instanceof GeoDownloadError)) throw error;
      await this.store.fail(name, error.message);
      result.failed.push({ name, error: error.message });
      this.logger.warn(`The ${name} database could not be updated: ${error.message}`);
    }
  }
}

function strongest(before: Via | null, via: Via): Via {
  return before === 'proxy' ? 'proxy' : via;
}
