import type { CursorPage } from './cursor-page.js';

/** What is counted: everybody together (id 0), or one of these. */
export type CountedResource = 'global' | 'user' | 'client' | 'tunnel' | 'host';

/** What a resource carried in all. */
export interface FlowStatView {
  /** @asType integer */
  id: number;
  resource_type: CountedResource;
  /** @asType integer */
  resource_id: number;
  /**
   * Bytes from visitors.
   * @asType integer
   */
  inlet_bytes: number;
  /**
   * Bytes to visitors.
   * @asType integer
   */
  export_bytes: number;
  /** @format date-time */
  updated_at: string | null;
}

export type FlowStatPage = CursorPage<FlowStatView>;

/** What was carried in one minute, hour or day. */
export interface FlowPoint {
  /**
   * Start of the minute, hour or day.
   * @format date-time
   */
  at: string;
  /** @asType integer */
  inlet_bytes: number;
  /** @asType integer */
  export_bytes: number;
  /**
   * Connections, datagram sessions and HTTP requests that began.
   * @asType integer
   */
  connections: number;
}

/** Without gaps: where nothing was carried there are zeros. */
export interface FlowSeries {
  resource_type: CountedResource;
  /** @asType integer */
  resource_id: number;
  bucket: 'minute' | 'hour' | 'day';
  points: FlowPoint[];
}

/** How often an address came to a resource. */
export interface RequestIpView {
  /** @asType integer */
  id: number;
  resource_type: CountedResource;
  /** @asType integer */
  resource_id: number;
  ip: string;
  /** @asType integer */
  hit_count: number;
  /** @format date-time */
  last_seen_at: string | null;
}

export type RequestIpPage = CursorPage<RequestIpView>;
