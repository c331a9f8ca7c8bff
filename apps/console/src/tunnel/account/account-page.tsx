import { Page } from '../../shared/components/page.js';
import { ChangePassword } from './change-password.js';
import { SecondFactor } from './second-factor.js';

/** One's own account. */
export function AccountPage() {
  return (
    <Page title="Account">
      <ChangePassword />
      <SecondFactor />
    </Page>
  );
}
