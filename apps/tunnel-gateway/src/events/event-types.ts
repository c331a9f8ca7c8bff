import type { EventType } from '@gatehouse/contracts';

/** Every type of the contract: one that is missing here, or unknown there, does not compile. */
const TYPES: Record<EventType, true> = {
  'client.online': true,
  'client.offline': true,
  'client.kicked': true,
  'client.replaced': true,
  'client.expired': true,
  'tunnel.started': true,
  'tunnel.stopped': true,
  'tunnel.failed': true,
  'host.updated': true,
  'host.target_down': true,
  'host.target_up': true,
  'cert.issued': true,
  'cert.renewed': true,
  'cert.failed': true,
  'cert.expiring': true,
  'limit.rate': true,
  'limit.max_conn': true,
  'limit.traffic': true,
  'auth.visitor_failed': true,
  'user.login': true,
  'user.login_failed': true,
  'acl.denied': true,
};

export const EVENT_TYPES = Object.keys(TYPES) as EventType[];
