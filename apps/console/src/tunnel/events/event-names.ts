import type { EventType, EventView } from '@gatehouse/contracts';
import type { BadgeTone } from '../../shared/components/badge-tone.js';
import { t } from '../messages/index.js';

/** In the order in which they are offered. */
export const EVENT_TONES: Readonly<Record<EventType, BadgeTone>> = {
  'client.online': 'good',
  'client.offline': 'fair',
  'client.kicked': 'fair',
  'client.replaced': 'bad',
  'client.expired': 'bad',
  'tunnel.started': 'good',
  'tunnel.stopped': 'none',
  'tunnel.failed': 'bad',
  'host.updated': 'info',
  'host.target_down': 'bad',
  'host.target_up': 'good',
  'cert.issued': 'good',
  'cert.renewed': 'good',
  'cert.failed': 'bad',
  'cert.expiring': 'fair',
  'limit.rate': 'fair',
  'limit.max_conn': 'fair',
  'limit.traffic': 'bad',
  'auth.visitor_failed': 'fair',
  'user.login': 'info',
  'user.login_failed': 'bad',
  'acl.denied': 'fair',
};

export const EVENT_TYPES = Object.keys(EVENT_TONES) as EventType[];

export function toneOf(type: string): BadgeTone {
  return isKnown(type) ? EVENT_TONES[type] : 'none';
}

/** What people call it; one that this console does not know yet has only its name in the API. */
export function eventName(type: string): string {
  return isKnown(type) ? t(`events.names.${type}`) : type;
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(EVENT_TONES, type);
}

const MAX_KEPT = 500;

/** The newest first, each once, however they came. */
export function mergeEvents(before: readonly EventView[], came: readonly EventView[]): EventView[] {
  const byId = new Map([...before, ...came].map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => b.id - a.id).slice(0, MAX_KEPT);
}
