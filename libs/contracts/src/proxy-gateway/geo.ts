export const GEO_DATABASE_NAMES = ['country', 'asn', 'geosite', 'geoip'] as const;
export type GeoDatabaseName = (typeof GEO_DATABASE_NAMES)[number];

export interface GeoDatabaseView {
  name: GeoDatabaseName;
  /**
   * File name in the folder `geo` of GATEHOUSE_HOME; null while there is none. The bundled database has no file there.
   */
  file: string | null;
  format: 'mmdb' | 'dat' | null;
  /** The type stated in the file. */
  database_type: string | null;
  build_time: string | null;
  /** Nodes of the search tree, or lists of sites. */
  entries: number | null;
  size_bytes: number | null;
  sha256: string | null;
  /** Null for the bundled database. */
  source_url: string | null;
  etag: string | null;
  last_modified: string | null;
  /** When the content last changed. */
  updated_at: string | null;
  /** The last successful check for a newer version. */
  checked_at: string | null;
  /** `error`: the last update failed; the previous content stays in use. */
  status: 'ok' | 'missing' | 'stale' | 'error';
  error: string | null;
}

/** `GET /system/geo`. */
export interface GeoStatus {
  auto_update: boolean;
  interval_hours: number;
  next_update_at: string | null;
  updating: boolean;
  databases: GeoDatabaseView[];
}

/** `POST /system/geo/update`. */
export interface GeoUpdateResult {
  updated: GeoDatabaseName[];
  not_modified: GeoDatabaseName[];
  failed: { name: GeoDatabaseName; error: string }[];
  duration_ms: number;
  /** `proxy` if any download went through the kernel; null if nothing could be fetched. */
  via: 'direct' | 'proxy' | null;
}
