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
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';

export function WebhookSecret({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) {
  return (
    <SecretDialog title={t('webhooks.secretOf', { name })} onClose={onClose}>
      <p>{t('webhooks.secretText')}</p>
      <Secret text={secret} what={t('webhooks.secret')} />
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
    <Confirm
      title={t('webhooks.rotateTitle')}
      action={t('webhooks.rotate')}
      busy={busy}
      onConfirm={() => void rotate()}
      onClose={onClose}
    >
      <p>{rich('webhooks.rotateText', { name: webhook.name, b: bold })}</p>
    </Confirm>
  );
}

const TONES: Record<WebhookDeliveryView['status'], BadgeTone> = { delivered: 'good', pending: 'info', dead: 'bad' };
const WORDS: Record<WebhookDeliveryView['status'], string> = {
  delivered: t('webhooks.states.delivered'),
  pending: t('webhooks.states.pending'),
  dead: t('webhooks.states.dead'),
};

const COLUMNS: Column<WebhookDeliveryView>[] = [
  { head: t('words.state'), cell: ({ status }) => <Badge tone={TONES[status]}>{WORDS[status]}</Badge> },
  { head: t('events.event'), cell: ({ type }) => <code>{type}</code> },
  { head: t('common.time'), cell: ({ created_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span> },
  { head: t('webhooks.attempts'), right: true, cell: ({ attempts }) => attempts },
  { head: t('webhooks.response'), right: true, cell: ({ response_status: status }) => status ?? '–' },
  { head: t('webhooks.error'), grow: true, cell: ({ error }) => <span title={error ?? ''}>{error ?? ''}</span> },
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
    await run(() => api.post<WebhookDeliveryView>(`/webhooks/${webhook.id}/test`), t('webhooks.testSent'));
    reload();
  };
  return (
    <Dialog title={t('webhooks.deliveriesOf', { name: webhook.name })} onClose={onClose} wide>
      <p class="actions">
        <button type="button" disabled={busy} onClick={() => void test()}>
          {t('webhooks.sendTest')}
        </button>
      </p>
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('webhooks.deliveries')}
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={t('webhooks.noDeliveries')}
      />
    </Dialog>
  );
}
