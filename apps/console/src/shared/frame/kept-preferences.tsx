import type { ConsolePreferences } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useApi } from '../api/api-context.js';
import { applyPreferences, PreferenceStore, type Choice } from './preferences.js';

/**
 * Shows the console as its user has chosen in any browser, and keeps what they choose in this one. The console works
 * without that, so a failure is no reason to bother anybody.
 */
export function KeptPreferences({ children }: { children: ComponentChildren }) {
  const api = useApi();
  useEffect(() => {
    void api
      .get<ConsolePreferences>('/auth/preferences')
      .then(applyPreferences)
      .catch(() => undefined);
  }, []);
  const keep = async (choice: Choice): Promise<void> => {
    await api.put('/auth/preferences', choice).catch(() => undefined);
  };
  return <PreferenceStore.Provider value={keep}>{children}</PreferenceStore.Provider>;
}
