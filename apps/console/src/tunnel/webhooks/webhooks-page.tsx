import type { NewWebhookView, WebhookView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { Empty } from '../parts/empty.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { useMayWrite } from '../user-context.js';
import { EditWebhook, NewWebhook } from './edit-webhook.js';
import { Deliveries, RotateSecret, WebhookSecret } from './webhook-deeds.js';

type Deed = 'edit' | 'rotate' | 'deliveries' | 'remove';
type Opened = { deed: 'new' } | { deed: 'created'; webhook: NewWebhookView } | { deed: Deed; webhook: WebhookView };

/** The receivers of events. */
export function WebhooksPage() {
  const mayWrite = useMayWrite();
  const list = useCursorList<WebhookView>('/webhooks', {});
  const [opened, setOpened] = useState<Opened | null>(null);
  const add = (
    <button type="button" class="primary" onClick={() => setOpened({ deed: 'new' })}>
      New webhook
    </button>
  );
  return (
    <Page title="Webhooks" actions={mayWrite && add}>
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption="Webhooks"
        columns={columnsFor(mayWrite, list.reload, (deed, webhook) => setOpened({ deed, webhook }))}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowClass={({ status }) => (status === 1 ? '' : 'faint')}
        empty={<Empty action={mayWrite && add}>{NOTHING}</Empty>}
      />
      <CursorPager label="webhooks" order="any" note="" {...list.pager} />
      {opened && (
        <OpenedWebhook opened={opened} setOpened={setOpened} reload={list.reload} onClose={() => setOpened(null)} />
      )}
    </Page>
  );
}

const NOTHING = (
  <p>
    <strong>No webhook yet.</strong> A webhook sends events to your own program: agents that come and go, tunnels that
    fail, certificates that end.
  </p>
);

function columnsFor(
  mayWrite: boolean,
  reload: () => void,
  onDeed: (deed: Deed, webhook: WebhookView) => void,
): Column<WebhookView>[] {
  return [
    {
      head: 'Enabled',
      quietHead: true,
      cell: ({ id, name, status }) => (
        <StatusSwitch path={`/webhooks/${id}`} label={`${name} enabled`} value={status} reload={reload} />
      ),
    },
    {
      head: 'Webhook',
      grow: true,
      cell: ({ name, url }) => (
        <>
          <strong>{name}</strong>
          <span class="second mono">{url}</span>
        </>
      ),
    },
    {
      head: 'Gets',
      cell: ({ event_types: types }) =>
        types.length === 0 ? (
          'all events'
        ) : (
          <span title={types.join(', ')}>{types.length === 1 ? types[0] : `${types.length} kinds of events`}</span>
        ),
    },
    {
      head: 'State',
      cell: ({ failing_since: since }) =>
        since === null ? (
          <Badge tone="good">fine</Badge>
        ) : (
          <Badge tone="bad" title={formatTime(since)}>{`failing, ${formatRelative(since)}`}</Badge>
        ),
    },
    {
      head: 'Actions',
      quietHead: true,
      right: true,
      cell: (webhook) => <WebhookActions webhook={webhook} mayWrite={mayWrite} onDeed={onDeed} />,
    },
  ];
}

interface WebhookActionsProps {
  webhook: WebhookView;
  mayWrite: boolean;
  onDeed: (deed: Deed, webhook: WebhookView) => void;
}

function WebhookActions({ webhook, mayWrite, onDeed }: WebhookActionsProps) {
  const { name } = webhook;
  return (
    <RowActions>
      <RowAction label={`What ${name} got`} onClick={() => onDeed('deliveries', webhook)}>
        Deliveries
      </RowAction>
      {mayWrite && (
        <>
          <RowAction label={`New secret of ${name}`} onClick={() => onDeed('rotate', webhook)}>
            New secret …
          </RowAction>
          <RowAction label={`Edit ${name}`} onClick={() => onDeed('edit', webhook)}>
            Edit
          </RowAction>
          <RowAction label={`Delete ${name}`} danger onClick={() => onDeed('remove', webhook)}>
            Delete …
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
  switch (opened.deed) {
    case 'new':
      return (
        <NewWebhook
          onClose={onClose}
          onCreated={(webhook) => {
            setOpened({ deed: 'created', webhook });
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
          title="Delete this webhook?"
          path={`/webhooks/${id}`}
          name={name}
          onClose={onClose}
          onDone={reload}
        >
          <p>
            <strong>{name}</strong> gets no more events, including those that are waiting.
          </p>
        </RemoveDialog>
      );
    }
  }
}
