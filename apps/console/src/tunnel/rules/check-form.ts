import type { IpRuleCheckLevel } from '@gatehouse/contracts';
import type { BadgeTone } from '../../shared/components/badge-tone.js';
import type { Query } from '../../shared/api/api-client.js';

export type CheckPlace = 'tunnel' | 'host' | 'client' | 'console';

export interface CheckForm {
  ip: string;
  place: CheckPlace;
  resource_id: string;
}

/** As the API's `check` takes it. */
export function checkQuery({ ip, place, resource_id: id }: CheckForm): Query {
  return { ip: ip.trim(), resource_type: place, ...(place !== 'console' && { resource_id: id }) };
}

interface Outcome {
  tone: BadgeTone;
  text: string;
  /** Shown if there is no rule to show. */
  reason: string;
}

export const OUTCOMES: Readonly<Record<IpRuleCheckLevel['outcome'], Outcome>> = {
  allowed: { tone: 'good', text: 'allowed', reason: 'by a rule that you may not see' },
  denied: { tone: 'bad', text: 'denied', reason: 'by a rule that you may not see' },
  not_listed: { tone: 'bad', text: 'not listed', reason: 'allow rules exist here, and none matches this address' },
  no_match: { tone: 'none', text: 'no match', reason: 'no rule matches this address' },
  not_reached: { tone: 'none', text: 'not reached', reason: 'an earlier level decided' },
};
