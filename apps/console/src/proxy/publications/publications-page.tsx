import type { PublicationCreated, PublicationList, PublicationView, SubscriptionList } from '@gatehouse/contracts';
import { useMemo, useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { Table } from '../../shared/components/table.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { EditPublication } from './edit-publication.js';
import { publicationColumns, type PublicationAction } from './publication-columns.js';
import { NewAddress, RemovePublication, SwitchOff } from './publication-dialogs.js';
import { ShowAddress } from './show-address.js';
import { TemplatesCard } from './templates-card.js';

type Opened =
  | { dialog: 'add' }
  | { dialog: 'address'; created: PublicationCreated }
  | { dialog: Exclude<PublicationAction, 'edit'>; publication: PublicationView };

/** Documents that clients of other programs subscribe to. `?id=5` in the address opens one of them. */
export function PublicationsPage({ query }: PageProps) {
  const api = useApi();
  const { run } = useAction();
  const [opened, setOpened] = useState<Opened | null>(null);
  const { data, error, reload } = useResource((signal) => api.get<PublicationList>('/publications', {}, signal), [], {
    everyMs: 10_000,
    areas: ['publications'],
  });
  const subscriptions = useResource((signal) => api.get<SubscriptionList>('/subscriptions', {}, signal), [], {
    areas: ['subscriptions'],
  });
  const names = useMemo(
    () => new Map(subscriptions.data?.items.map(({ id, name }) => [id, name])),
    [subscriptions.data],
  );
  const switchOn = async ({ id, name }: PublicationView): Promise<void> => {
    await run(() => api.put(`/publications/${id}`, { enabled: true }), t('publications.switchedOn', { name }));
    reload();
  };
  const open = (action: PublicationAction, publication: PublicationView): void => {
    if (action === 'edit') location.hash = hrefTo('publications', { id: publication.id });
    else setOpened({ dialog: action, publication });
  };
  return (
    <Page
      title={t('publications.title')}
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ dialog: 'add' })}>
          {t('publications.add')}
        </button>
      }
    >
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('publications.title')}
        columns={publicationColumns({ names, onOpen: open, onSwitchOn: (row) => void switchOn(row) })}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={t('publications.empty')}
      />
      <TemplatesCard publications={data?.items ?? []} />
      <Dialogs
        opened={opened}
        edited={data?.items.find(({ id }) => String(id) === query['id'])}
        setOpened={setOpened}
        reload={reload}
      />
    </Page>
  );
}

interface DialogsProps {
  opened: Opened | null;
  edited: PublicationView | undefined;
  setOpened: (opened: Opened | null) => void;
  reload: () => void;
}

function Dialogs({ opened, edited, setOpened, reload }: DialogsProps) {
  const close = (): void => setOpened(null);
  const showAddress = (created: PublicationCreated): void => {
    setOpened({ dialog: 'address', created });
    reload();
  };
  if (opened === null && edited === undefined) return null;
  if (opened === null || opened.dialog === 'add') {
    const closeForm = (): void => {
      if (opened === null) location.hash = hrefTo('publications');
      else close();
    };
    return (
      <EditPublication
        key={opened === null ? edited?.id : 'add'}
        publication={opened === null ? (edited ?? null) : null}
        onClose={closeForm}
        onDone={reload}
        onCreated={showAddress}
      />
    );
  }
  if (opened.dialog === 'address') return <ShowAddress created={opened.created} onClose={close} />;
  const { dialog, publication } = opened;
  if (dialog === 'replace') return <NewAddress publication={publication} onClose={close} onCreated={showAddress} />;
  const Dialog = dialog === 'off' ? SwitchOff : RemovePublication;
  return <Dialog publication={publication} onClose={close} onDone={reload} />;
}
