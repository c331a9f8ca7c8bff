import { createHash } from 'node:crypto';
import type { Actor } from '@gatehouse/auth';
import type { GeoDatabaseName, GeoDatabaseView, GeoStatus, GeoSummary, GeoUpdateResult } from '@gatehouse/contracts';
import { JobFailedError, Jobs } from '@gatehouse/jobs';
import { AppError } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import { maySeeSecrets } from '../auth/may-see-secrets.js';
import { readBundledCountryFile } from '@gatehouse/geo';
import { jobFailure } from '../jobs/job-failure.js';
import { Preferences } from '../preferences/preferences.service.js';
import { readerText } from '../reader-text.js';
import { maskSettings } from '../settings-api/mask-settings.js';
import { FIRST_UPDATE_MS } from './geo-schedule.js';
import { translateMirrorErrors } from './mirror-errors.js';
import { GeoLibrary } from '../geo/geo-library.js';
import { GEO_DATABASE_NAMES, GEO_SOURCES } from '../geo/geo-sources.js';
import { GeoStore } from '../geo/geo-store.js';
import type { GeoRow } from '../geo/geo-store.js';

const HOUR_MS = 3_600_000;
const WAIT_MS = 10 * 60_000;
/** A database counts as stale after this many update intervals without a successful check. */
const STALE_AFTER = 3;

@Injectable()
export class GeoService {
  private readonly logger = new Logger('Geo');
  private readonly startedAt = Date.now();
  private bundled: GeoDatabaseView | null = null;

  constructor(
    private readonly store: GeoStore,
    private readonly library: GeoLibrary,
    private readonly preferences: Preferences,
    private readonly jobs: Jobs,
  ) {}

  async status(actor: Actor | null): Promise<GeoStatus> {
    const [rows, { running, lastRunAt }] = await Promise.all([this.store.rows(), this.store.state()]);
    const autoUpdate = this.preferences.get('geo.auto_update');
    const hours = this.preferences.get('geo.interval_hours');
    const next = lastRunAt === null ? this.startedAt + FIRST_UPDATE_MS : lastRunAt.getTime() + hours * HOUR_MS;
    const showSecrets = maySeeSecrets(actor);
    const names = GEO_DATABASE_NAMES.filter((name) => name !== 'geoip' || this.isWanted(name) || rows.has(name));
    return {
      auto_update: autoUpdate,
      interval_hours: hours,
      next_update_at: autoUpdate ? new Date(next).toISOString() : null,
      updating: running,
      databases: names.map((name) => this.describe(name, rows.get(name), showSecrets)),
    };
  }

  async summary(): Promise<GeoSummary> {
    const { auto_update, updating, next_update_at, databases } = await this.status(null);
    const short = databases.map(({ name, status, build_time, updated_at }) => ({
      name,
      status,
      build_time,
      updated_at,
    }));
    return { auto_update, updating, next_update_at, databases: short };
  }

  /** Starts an update and waits for its result. @throws AppError GEO_UPDATE_RUNNING, UPSTREAM_TIMEOUT. */
  async update(force: boolean): Promise<GeoUpdateResult> {
    try {
      const payload = { trigger: 'manual' as const, force };
      const result = await this.jobs.addAndWait<GeoUpdateResult>('geo-update', payload, { timeoutMs: WAIT_MS });
      await this.library.renew();
      return result;
    } catch (error) {
      if (error instanceof JobFailedError && error.code === 'GEO_UPDATE_RUNNING') {
        throw new AppError('GEO_UPDATE_RUNNING', undefined, { cause: error });
      }
      throw jobFailure(error, {
        late: 'The update is still running; GET /system/geo shows its result',
        failed: 'The update failed.',
      });
    }
  }

  private isWanted(name: GeoDatabaseName): boolean {
    return this.preferences.get(GEO_SOURCES[name].setting).length > 0;
  }

  private describe(name: GeoDatabaseName, row: GeoRow | undefined, showSecrets: boolean): GeoDatabaseView {
    if (row === undefined || row.sha256 === null) {
      const error = errorOf(row);
      const base = name === 'country' ? this.bundledCountry() : missing(name);
      return { ...base, error, status: error === null ? base.status : 'error' };
    }
    return {
      name,
      file: GEO_SOURCES[name].file,
      format: row.format,
      database_type: row.database_type,
      build_time: row.build_time?.toISOString() ?? null,
      entries: row.entries,
      size_bytes: row.size_bytes,
      sha256: row.sha256,
      source_url: showSecrets ? row.source_url : this.maskSource(name, row.source_url),
      etag: row.etag,
      last_modified: row.last_modified,
      updated_at: row.updated_at?.toISOString() ?? null,
      checked_at: row.checked_at?.toISOString() ?? null,
      status: row.error !== null ? 'error' : this.isStale(row) ? 'stale' : 'ok',
      error: errorOf(row),
    };
  }

  private isStale({ checked_at }: GeoRow): boolean {
    if (!this.preferences.get('geo.auto_update') || checked_at === null) return false;
    const intervalMs = this.preferences.get('geo.interval_hours') * HOUR_MS;
    return Date.now() - checked_at.getTime() > STALE_AFTER * intervalMs;
  }

  private maskSource(name: GeoDatabaseName, url: string | null): string | null {
    return url === null
      ? null
      : (maskSettings({ [GEO_SOURCES[name].setting]: url })[GEO_SOURCES[name].setting] ?? null);
  }

  /** Opened once, to read its facts. */
  private bundledCountry(): GeoDatabaseView {
    this.bundled ??= this.inspectBundled();
    return this.bundled;
  }

  private inspectBundled(): GeoDatabaseView {
    try {
      const content = readBundledCountryFile();
      const { format, databaseType, buildTime, entries } = GEO_SOURCES.country.inspect(content);
      return {
        ...missing('country'),
        format,
        database_type: databaseType,
        build_time: buildTime?.toISOString() ?? null,
        entries,
        size_bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
        status: 'ok',
      };
    } catch (error) {
      this.logger.warn('The bundled country database cannot be read', error);
      return missing('country');
    }
  }
}

function missing(name: GeoDatabaseName): GeoDatabaseView {
  return {
    name,
    file: null,
    format: null,
    database_type: null,
    build_time: null,
    entries: null,
    size_bytes: null,
    sha256: null,
    source_url: null,
    etag: null,
    last_modified: null,
    updated_at: null,
    checked_at: null,
    status: 'missing',
    error: null,
  };
}

function errorOf(row: GeoRow | undefined): string | null {
  const error = row?.error ?? null;
  return error === null ? null : translateMirrorErrors(error, readerText);
}
