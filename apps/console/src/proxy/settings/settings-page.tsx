import type { SettingsView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { ChangePassword } from './change-password.js';
import { SettingsForm } from './settings-form.js';

export function SettingsPage() {
  const api = useApi();
  const { data, error, reload } = useResource(async (signal) => {
    const read = (path: string) => api.get<SettingsView>(path, {}, signal);
    const [settings, defaults] = await Promise.all([read('/settings'), read('/settings/defaults')]);
    return { settings, defaults };
  }, []);
  return (
    <Page title={t('nav.settings')}>
      <Trouble error={error} retry={reload} waits={data === undefined} />
      {data && <SettingsForm key={JSON.stringify(data.settings)} {...data} onSaved={reload} />}
      {/* Below what is read first: a card that is there before would be pushed away. */}
      {(data || error) && <ChangePassword />}
    </Page>
  );
}
