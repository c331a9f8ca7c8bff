import type { CursorPage } from './cursor-page.js';

/** Types of events. */
export type EventType =
  | 'client.online'
  | 'client.offline'
  | 'client.kicked'
  | 'client.replaced'
  | 'client.expired'
  | 'tunnel.started'
  | 'tunnel.stopped'
  | 'tunnel.failed'
  | 'host.updated'
  | 'host.target_down'
  | 'host.target_up'
  | 'cert.issued'
  | 'cert.renewed'
  | 'cert.failed'
  | 'cert.expiring'
  | 'limit.rate'
  | 'limit.max_conn'
  | 'limit.traffic'
  | 'auth.visitor_failed'
  | 'user.login'
  | 'user.login_failed'
  | 'acl.denied';

/** One event. */
export interface EventView {
  /**
   * Newer events have higher ids; the event stream has the same ids.
   * @asType integer
   */
  id: number;
  type: EventType;
  /** The resource that it concerns. */
  resource_type: 'user' | 'client' | 'tunnel' | 'host' | 'webhook' | null;
  resource_id: number | null;
  /** The user who may see it; null: administrators only. */
  owner_user_id: number | null;
  message: string;
  /** Details; `count` is the number of equal events that it stands for. */
  data: Record<string, unknown>;
  /** @format date-time */
  created_at: string;
}

export type EventPage = CursorPage<EventView>;
