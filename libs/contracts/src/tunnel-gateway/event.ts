import type { CursorPage } from './cursor-page.js';

/** What can happen. */
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
  | 'cert.issued'
  | 'cert.renewed'
  | 'cert.failed'
  | 'cert.expiring'
  | 'limit.rate'
  | 'limit.max_conn'
  | 'auth.visitor_failed'
  | 'user.login'
  | 'user.login_failed'
  | 'acl.denied';

/** Something that happened. */
export interface EventView {
  /**
   * Grows; it is the id of the event in the stream too.
   * @asType integer
   */
  id: number;
  type: EventType;
  /** What it is about. */
  resource_type: 'user' | 'client' | 'tunnel' | 'host' | 'webhook' | null;
  resource_id: number | null;
  /** Who may see it; null: administrators only. */
  owner_user_id: number | null;
  message: string;
  /** Facts that go with it; `count` is how many of the same it stands for. */
  data: Record<string, unknown>;
  /** @format date-time */
  created_at: string;
}

export type EventPage = CursorPage<EventView>;
