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
  /** Where there is no rule to show. */
  reason: string;
}

export const OUTCOMES: Readonly<Record<IpRuleCheckLevel['outcome'], Outcome>> = {
  allowed: { tone: 'good', text: 'let in', reason: 'a rule that is not yours to see' },
  denied: { tone: 'bad', text: 'keep out', reason: 'a rule that is not yours to see' },
  not_listed: { tone: 'bad', text: 'not listed', reason: 'others are let in here, this address is not among them' },
  no_match: { tone: 'none', text: 'nothing', reason: 'no rule is about this address' },
  not_reached: { tone: 'none', text: 'not asked', reason: 'it was decided before' },
};
