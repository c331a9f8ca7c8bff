import { t } from '../messages/index.js';
import { Page } from '../../shared/components/page.js';
import { ExportCard } from './export-card.js';
import { ImportCard } from './import-card.js';
import { RestoreCard } from './restore-card.js';

/** Set-ups of other programs, and one's own as a file. */
export function TransferPage() {
  return (
    <Page title={t('nav.transfer')}>
      <ImportCard />
      <div class="columns">
        <ExportCard />
        <RestoreCard />
      </div>
    </Page>
  );
}
