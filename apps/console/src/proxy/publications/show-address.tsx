import { PUBLICATION_TARGETS, type PublicationCreated, type PublicationTarget } from '@gatehouse/contracts';
import { CopyButton } from '../../shared/components/copy-button.js';
import { QrCode } from '../../shared/components/qr-code.js';
import { SecretDialog } from '../../shared/components/secret-dialog.js';
import { Secret } from '../../shared/components/secret.js';
import { Table, type Column } from '../../shared/components/table.js';
import { t } from '../messages/index.js';
import { addressOf, TARGET_NAMES } from './address.js';

/** The address, which is shown this one time: for every client, and for each alone. */
export function ShowAddress({
  created: { name, path },
  onClose,
}: {
  created: PublicationCreated;
  onClose: () => void;
}) {
  const address = addressOf(path, document.baseURI);
  const columns: readonly Column<PublicationTarget>[] = [
    { head: t('publications.client'), cell: (target) => TARGET_NAMES[target], grow: true },
    {
      head: t('words.address'),
      quietHead: true,
      right: true,
      cell: (target) => (
        <CopyButton
          text={addressOf(path, document.baseURI, target)}
          what={t('publications.addressFor', { client: TARGET_NAMES[target] })}
        />
      ),
    },
  ];
  return (
    <SecretDialog title={t('publications.addressOf', { name })} onClose={onClose} wide>
      <p>{t('publications.copyNow')}</p>
      <Secret text={address} what={t('words.address')} />
      <QrCode text={address} label={t('publications.qrCode')} />
      <p class="muted">{t('publications.perClient')}</p>
      <Table
        caption={t('publications.client')}
        columns={columns}
        rows={PUBLICATION_TARGETS}
        rowKey={(target) => target}
        empty=""
      />
    </SecretDialog>
  );
}
