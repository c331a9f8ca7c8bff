import type { EventType, NewWebhookView, WebhookView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { EditDialog } from '../../shared/components/edit-dialog.js';
import { CheckField, FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { SaveEnd } from '../../shared/components/save-end.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import type { Row } from '../../shared/state/use-row.js';
import { t } from '../messages/index.js';
import { EVENT_TYPES, eventName } from '../events/event-names.js';
import { formOf, toBody, type WebhookForm } from './webhook-form.js';

export function NewWebhook({ onClose, onCreated }: { onClose: () => void; onCreated: (made: NewWebhookView) => void }) {
  const api = useApi();
  const form = useForm<WebhookForm>(formOf(null));
  const create = async (values: WebhookForm): Promise<void> => {
    onCreated(await api.post<NewWebhookView>('/webhooks', toBody(values)));
  };
  return (
    <Dialog title={t('webhooks.add')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <WebhookFields form={form} />
        <FormEnd error={form.error} busy={form.busy} action={t('words.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

interface EditWebhookProps {
  webhook: WebhookView;
  onClose: () => void;
  onDone: () => void;
}

export function EditWebhook({ webhook, onClose, onDone }: EditWebhookProps) {
  return (
    <EditDialog<WebhookView>
      title={t('words.editName', { name: webhook.name })}
      path={`/webhooks/${webhook.id}`}
      onClose={onClose}
    >
      {(row, version) => <WebhookEditor webhook={row} version={version} onClose={onClose} onDone={onDone} />}
    </EditDialog>
  );
}

interface WebhookEditorProps extends EditWebhookProps {
  version: Pick<Row<WebhookView>, 'etag' | 'reload'>;
}

function WebhookEditor({ webhook, version, onClose, onDone }: WebhookEditorProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<WebhookForm>(formOf(webhook));
  const save = async (values: WebhookForm): Promise<void> => {
    await api.patch(`/webhooks/${webhook.id}`, toBody(values), version.etag);
    notify(t('words.saved', { name: values.name }));
    onDone();
    onClose();
  };
  return (
    <form onSubmit={form.submit(save)}>
      <WebhookFields form={form} />
      <SaveEnd form={form} action={t('common.save')} onCancel={onClose} onReload={version.reload} />
    </form>
  );
}

function WebhookFields({ form }: { form: Form<WebhookForm> }) {
  const { name, url, event_types: types } = form.values;
  const toggle = (type: EventType, on: boolean): void =>
    form.set('event_types', on ? [...types, type] : types.filter((other) => other !== type));
  return (
    <>
      <TextField
        label={t('common.name')}
        required
        autofocus
        value={name}
        problem={form.problem('name')}
        onInput={(text) => form.set('name', text)}
      />
      <TextField
        label={t('webhooks.url')}
        hint={t('webhooks.urlHint')}
        type="url"
        placeholder="https://example.org/hooks/gatehouse"
        required
        value={url}
        problem={form.problem('url')}
        onInput={(text) => form.set('url', text)}
      />
      <fieldset>
        <legend>{t('webhooks.eventTypes')}</legend>
        <p class="hint">
          {types.length === 0 ? t('webhooks.noneChosen') : t('webhooks.chosen', { count: types.length })}
        </p>
        <div class="choices">
          {EVENT_TYPES.map((type) => (
            <CheckField
              key={type}
              label={eventName(type)}
              hint={type}
              checked={types.includes(type)}
              onChange={(on) => toggle(type, on)}
            />
          ))}
        </div>
        {form.problem('event_types') !== undefined && <p class="problem">{form.problem('event_types')}</p>}
      </fieldset>
    </>
  );
}
