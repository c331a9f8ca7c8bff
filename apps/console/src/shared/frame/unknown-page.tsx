import { Page } from '../components/page.js';
import { t } from '../messages/index.js';
import { hrefTo } from '../state/route.js';

/** In place of a page that is not there, or not for this user. */
export function UnknownPage() {
  return (
    <Page title={t('frame.unknownTitle')}>
      <p>{t('frame.unknownText')}</p>
      <p class="actions">
        <a class="button primary" href={hrefTo('')}>
          {t('frame.home')}
        </a>
      </p>
    </Page>
  );
}
