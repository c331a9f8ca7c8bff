import type { ProfileList } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

/** Which profile drives the rules, and the way back to what was in force before. */
export function ActiveProfile({ profiles, onDone }: { profiles: ProfileList; onDone: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  if (profiles.total === 0) return null;
  const nameOf = (wanted: number | null): string =>
    profiles.items.find(({ subscription_id: id }) => id === wanted)?.name ?? t('profiles.ownRules');
  const { active_subscription_id: active, previous_subscription_id: previous, can_go_back: canGoBack } = profiles;
  const goBack = async (): Promise<void> => {
    await run(() => api.put('/profiles/active', { subscription_id: previous }), t('profiles.switched'));
    onDone();
  };
  return (
    <p class="actions">
      <span>{t('profiles.activeIs', { name: nameOf(active) })}</span>
      {canGoBack && (
        <button type="button" disabled={busy} onClick={() => void goBack()}>
          {t('profiles.back', { name: nameOf(previous) })}
        </button>
      )}
    </p>
  );
}
