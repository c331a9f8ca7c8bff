import type { NewWebhookView, WebhookView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { eventName } from '../events/event-names.js';
import { Empty } from '../parts/empty.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { useMayWrite } from '../user-context.js';
import { EditWebhook, NewWebhook } from './edit-webhook.js';
import { Deliveries, RotateSecret, WebhookSecret } from './webhook-dialogs.js';

type Action = 'edit' | 'rotate' | 'deliveries' | 'remove';
type Opened =
  { action: 'new' } | { action: 'created'; webhook: NewWebhookView } | { action: Action; webhook: WebhookView };

/** The receivers of events. */
export function WebhooksPage() {
  const mayWrite = useMayWrite();
  const list = useCursorList<WebhookView>('/webhooks', {});
  const [opened, setOpened] = useState<Opened | null>(null);
  const add = (
    <button type="button" class="primary" onClick={() => setOpened({ action: 'new' })}>
      {t('webhooks.add')}
    </button>
  );
  return (
    <Page title={t('nav.webhooks')} actions={mayWrite && add}>
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption={t('nav.webhooks')}
        columns={columnsFor(mayWrite, list.reload, (action, webhook) => setOpened({ action, webhook }))}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowClass={({ status }) => (status === 1 ? '' : 'faint')}
        empty={<Empty action={mayWrite && add}>{NOTHING}</Empty>}
      />
      <CursorPager label={t('nav.webhooks')} order="any" note="" {...list.pager} />
      {opened && (
        <OpenedWebhook opened={opened} setOpened={setOpened} reload={list.reload} onClose={() => setOpened(null)} />
      )}
    </Page>
  );
}

const NOTHING = <p>{rich('webhooks.empty', { b: bold })}</p>;

function columnsFor(
  mayWrite: boolean,
  reload: () => void,
  onAction: (action: Action, webhook: WebhookView) => void,
): Column<WebhookView>[] {
  return [
    {
      head: t('common.enabled'),
      quietHead: true,
      cell: ({ id, name, status }) => (
        <StatusSwitch
          path={`/webhooks/${id}`}
          label={t('words.enabledName', { name })}
          value={status}
          reload={reload}
        />
      ),
    },
    {
      head: t('webhooks.webhook'),
      grow: true,
      cell: ({ name, url }) => (
        <>
          <strong>{name}</strong>
          <span class="second mono">{url}</span>
        </>
      ),
    },
    {
      head: t('webhooks.events'),
      cell: ({ event_types: types }) =>
        types.length === 0 ? (
          t('webhooks.allEvents')
        ) : (
          <span title={types.join(', ')}>
            {types.length === 1 ? eventName(types[0]!) : t('webhooks.eventCount', { count: types.length })}
          </span>
        ),
    },
    {
      head: t('words.state'),
      cell: ({ failing_since: since }) =>
        since === null ? (
          <Badge tone="good">{t('webhooks.ok')}</Badge>
        ) : (
          <Badge tone="bad" title={formatTime(since)}>
            {t('webhooks.failing', { time: formatRelative(since) })}
          </Badge>
        ),
    },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (webhook) => <WebhookActions webhook={webhook} mayWrite={mayWrite} onAction={onAction} />,
    },
  ];
}

interface WebhookActionsProps {
  webhook: WebhookView;
  mayWrite: boolean;
  onAction: (action: Action, webhook: WebhookView) => void;
}

function WebhookActions({ webhook, mayWrite, onAction }: WebhookActionsProps) {
  const { name } = webhook;
  return (
    <RowActions>
      <RowAction label={t('webhooks.deliveriesOf', { name })} onClick={() => onAction('deliveries', webhook)}>
        {t('webhooks.deliveries')}
      </RowAction>
      {mayWrite && (
        <>
          <RowAction label={t('webhooks.newSecretOf', { name })} onClick={() => onAction('rotate', webhook)}>
            {t('webhooks.newSecret')}
          </RowAction>
          <RowAction label={t('words.editName', { name })} onClick={() => onAction('edit', webhook)}>
            {t('common.edit')}
          </RowAction>
          <RowAction label={t('words.deleteName', { name })} danger onClick={() => onAction('remove', webhook)}>
            {t('common.deleteMore')}
          </RowAction>
        </>
      )}
    </RowActions>
  );
}

interface OpenedWebhookProps {
  opened: Opened;
  setOpened: (opened: Opened) => void;
  reload: () => void;
  onClose: () => void;
}

function OpenedWebhook({ opened, setOpened, reload, onClose }: OpenedWebhookProps) {
  switch (opened.action) {
    case 'new':
      return (
        <NewWebhook
          onClose={onClose}
          onCreated={(webhook) => {
            setOpened({ action: 'created', webhook });
            reload();
          }}
        />
      );
    case 'created':
      return <WebhookSecret name={opened.webhook.name} secret={opened.webhook.secret} onClose={onClose} />;
    case 'edit':
      return <EditWebhook webhook={opened.webhook} onClose={onClose} onDone={reload} />;
    case 'rotate':
      return <RotateSecret webhook={opened.webhook} onClose={onClose} />;
    case 'deliveries':
      return <Deliveries webhook={opened.webhook} onClose={onClose} />;
    case 'remove': {
      const { id, name } = opened.webhook;
      return (
        <RemoveDialog
          title={t('webhooks.deleteTitle')}
          path={`/webhooks/${id}`}
          name={name}
          onClose={onClose}
          onDone={reload}
        >
          <p>{rich('webhooks.deleteText', { name, b: bold })}</p>
        </RemoveDialog>
      );
    }
  }
}
