import { Page } from '../../shared/components/page.js';
import { t } from '../messages/index.js';
import { ChangePassword } from './change-password.js';
import { SecondFactor } from './second-factor.js';

/** One's own account. */
export function AccountPage() {
  return (
    <Page title={t('nav.account')}>
      <ChangePassword />
      <SecondFactor />
    </Page>
  );
}
