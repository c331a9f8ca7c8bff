import { t } from '../messages/index.js';

const REASONS = ['manual', 'selected_gone', 'faster', 'dead', 'recovered', 'members_changed'] as const;

/** Why a group switched, in words. A service that is newer than this page may know another reason. */
export function switchReason(reason: string): string {
  const known = REASONS.find((name) => name === reason);
  return known === undefined ? reason : t(`groups.switchReasons.${known}`);
}
