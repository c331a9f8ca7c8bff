import type { IpRuleCheckLevel } from '@gatehouse/contracts';
import type { BadgeTone } from '../../shared/components/badge-tone.js';
import type { Query } from '../../shared/api/api-client.js';
import { t } from '../messages/index.js';

export type CheckPlace = 'tunnel' | 'host' | 'client' | 'console';

export interface CheckForm {
  ip: string;
  place: CheckPlace;
  resource_id: string;
  /** Of a request to a host; empty: `/`. */
  path: string;
  /** Empty: `GET`. */
  method: string;
}

/** As the API's `check` takes it. */
export function checkQuery({ ip, place, resource_id: id, path, method }: CheckForm): Query {
  const request = {
    ...(path.trim() !== '' && { path: path.trim() }),
    ...(method.trim() !== '' && { method: method.trim() }),
  };
  return {
    ip: ip.trim(),
    resource_type: place,
    ...(place !== 'console' && { resource_id: id }),
    ...(place === 'host' && request),
  };
}

interface Outcome {
  tone: BadgeTone;
  text: string;
  /** Shown if there is no rule to show. */
  reason: string;
}

const outcome = (tone: BadgeTone, name: IpRuleCheckLevel['outcome']): Outcome => ({
  tone,
  text: t(`rules.outcomes.${name}`),
  reason: t(`rules.outcomeReasons.${name}`),
});

export const OUTCOMES: Readonly<Record<IpRuleCheckLevel['outcome'], Outcome>> = {
  allowed: outcome('good', 'allowed'),
  denied: outcome('bad', 'denied'),
  not_listed: outcome('bad', 'not_listed'),
  no_match: outcome('none', 'no_match'),
  not_reached: outcome('none', 'not_reached'),
};
