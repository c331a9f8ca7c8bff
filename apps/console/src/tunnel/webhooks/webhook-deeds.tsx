import type { WebhookDeliveryPage, WebhookDeliveryView, WebhookSecretView, WebhookView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm, Dialog } from '../../shared/components/dialog.js';
import { Badge, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { SecretDialog } from '../../shared/components/secret-dialog.js';
import { Secret } from '../../shared/components/secret.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';

export function WebhookSecret({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) {
  return (
    <SecretDialog title={`The secret of ${name}`} onClose={onClose}>
      <p>Receivers verify signatures with it. You will not be able to see it again.</p>
      <Secret text={secret} what="Secret" />
    </SecretDialog>
  );
}

export function RotateSecret({ webhook, onClose }: { webhook: WebhookView; onClose: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const [made, setMade] = useState<string | null>(null);
  const rotate = (): Promise<boolean> =>
    run(async () => setMade((await api.post<WebhookSecretView>(`/webhooks/${webhook.id}/rotate-secret`)).secret));
  if (made !== null) return <WebhookSecret name={webhook.name} secret={made} onClose={onClose} />;
  return (
    <Confirm title="Make a new secret?" action="Make it" busy={busy} onConfirm={() => void rotate()} onClose={onClose}>
      <p>
        What <strong>{webhook.name}</strong> gets from now on is signed with the new one.
      </p>
    </Confirm>
  );
}

const TONES: Record<WebhookDeliveryView['status'], BadgeTone> = { delivered: 'good', pending: 'info', dead: 'bad' };
const WORDS: Record<WebhookDeliveryView['status'], string> = {
  delivered: 'arrived',
  pending: 'on its way',
  dead: 'given up',
};

const COLUMNS: Column<WebhookDeliveryView>[] = [
  { head: 'State', cell: ({ status }) => <Badge tone={TONES[status]}>{WORDS[status]}</Badge> },
  { head: 'What', cell: ({ type }) => <code>{type}</code> },
  { head: 'When', cell: ({ created_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span> },
  { head: 'Attempts', right: true, cell: ({ attempts }) => attempts },
  { head: 'Answer', right: true, cell: ({ response_status: status }) => status ?? '–' },
  { head: 'Why not', grow: true, cell: ({ error }) => <span title={error ?? ''}>{error ?? ''}</span> },
];

/** What was sent to a webhook, and what came of it. */
export function Deliveries({ webhook, onClose }: { webhook: WebhookView; onClose: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const { data, error, reload } = useResource(
    (signal) => api.get<WebhookDeliveryPage>(`/webhooks/${webhook.id}/deliveries`, { limit: 50 }, signal),
    [webhook.id],
    { everyMs: 3_000 },
  );
  const test = async (): Promise<void> => {
    await run(() => api.post<WebhookDeliveryView>(`/webhooks/${webhook.id}/test`), 'A test was sent.');
    reload();
  };
  return (
    <Dialog title={`What ${webhook.name} got`} onClose={onClose} wide>
      <p class="actions">
        <button type="button" disabled={busy} onClick={() => void test()}>
          Send a test
        </button>
      </p>
      <Trouble error={error} retry={reload} />
      <Table
        caption="Deliveries"
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty="Nothing was sent yet."
      />
    </Dialog>
  );
}
