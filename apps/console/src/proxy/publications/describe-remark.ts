import type { PublicationRemark } from '@gatehouse/contracts';
import { t } from '../messages/index.js';

/** `2 left out · the format has no such type · vless · Seoul, Osaka`. */
export function describeRemark({ outcome, reason, field, count, examples }: PublicationRemark): string {
  const what = t(`publications.outcomes.${outcome}`, { count });
  return [what, t(`publications.reasons.${reason}`), ...(field === null ? [] : [field]), examples.join(', ')].join(
    ' · ',
  );
}
