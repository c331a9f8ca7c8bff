export const GEO_DATABASE_NAMES = ['country', 'asn', 'geosite', 'geoip'] as const;
export type GeoDatabaseName = (typeof GEO_DATABASE_NAMES)[number];

export interface GeoDatabaseView {
  name: GeoDatabaseName;
  /** File name in the folder `geo` of GATEHOUSE_HOME; null while there is none. The bundled one has none there. */
  file: string | null;
  format: 'mmdb' | 'dat' | null;
  /** As the file calls itself. */
  database_type: string | null;
  build_time: string | null;
  /** Nodes of the search tree, or lists of sites. */
  entries: number | null;
  size_bytes: number | null;
  sha256: string | null;
  /** Null for the database that comes with the program. */
  source_url: string | null;
  etag: string | null;
  last_modified: string | null;
  /** When its content last changed. */
  updated_at: string | null;
  /** When it was last looked for something newer, with success. */
  checked_at: string | null;
  /** `error`: the last update failed; what was there before is still used. */
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
  /** `proxy` when one of them came through the kernel; null when nothing could be asked. */
  via: 'direct' | 'proxy' | null;
}
