import type { EventType } from '@gatehouse/contracts';

/** What can happen. */
export const EVENT_TYPES = [
  'client.online',
  'client.offline',
  'client.kicked',
  'client.replaced',
  'client.expired',
  'tunnel.started',
  'tunnel.stopped',
  'tunnel.failed',
  'host.updated',
  'cert.issued',
  'cert.renewed',
  'cert.failed',
  'cert.expiring',
  'limit.rate',
  'limit.max_conn',
  'auth.visitor_failed',
  'user.login',
  'user.login_failed',
  'acl.denied',
] as const satisfies readonly EventType[];

/** Nothing that the contract knows is missing above. */
type Missing = Exclude<EventType, (typeof EVENT_TYPES)[number]>;
export const NO_TYPE_IS_MISSING: Missing extends never ? true : Missing = true;
