import type { CursorPage } from './cursor-page.js';

/** What traffic is counted for: everything together (id 0), or one of these. */
export type CountedResource = 'global' | 'user' | 'client' | 'tunnel' | 'host';

/** Total traffic of a resource. */
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

/** Traffic of one minute, hour or day. */
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

/** One point per interval, with zeros for intervals without traffic. */
export interface FlowSeries {
  resource_type: CountedResource;
  /** @asType integer */
  resource_id: number;
  bucket: 'minute' | 'hour' | 'day';
  points: FlowPoint[];
}

/** Visits of an address to a resource. */
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
