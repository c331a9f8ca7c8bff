import { useState } from 'preact/hooks';
import { FormEnd } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Page } from '../../shared/components/page.js';
import { bold } from '../../shared/components/rich-text.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAction } from '../../shared/state/use-action.js';
import { useForm } from '../../shared/state/use-form.js';
import { nameOf as nameOfHost } from '../hosts/host-address.js';
import { rich, t } from '../messages/index.js';
import { nameOf as nameOfTunnel } from '../tunnels/tunnel-name.js';
import { PublishFields } from './publish-fields.js';
import { emptyForm, type PublishForm } from './publish-form.js';
import { Published } from './published.js';
import { usePublish, type HalfDone, type Service } from './use-publish.js';

/** One form from a service on some machine to an address to share. */
export function PublishPage({ query }: PageProps) {
  const [round, setRound] = useState(0);
  return <Publishing key={round} clientId={query['client_id'] ?? ''} onAgain={() => setRound(round + 1)} />;
}

function Publishing({ clientId, onAgain }: { clientId: string; onAgain: () => void }) {
  const form = useForm<PublishForm>(emptyForm(clientId));
  const { publish, undo, halfDone } = usePublish();
  const [service, setService] = useState<Service | null>(null);
  const submit = async (values: PublishForm): Promise<void> => setService(await publish(values));
  if (service !== null) return <Published service={service} name={nameOf(service)} onAgain={onAgain} />;
  return (
    <Page title={t('publish.title')}>
      <form class="publish" onSubmit={form.submit(submit)}>
        <PublishFields form={form} isCreated={halfDone !== null} />
        {halfDone && <HalfDoneNotice halfDone={halfDone} undo={undo} />}
        <FormEnd
          error={form.error}
          busy={form.busy}
          action={halfDone === null ? t('publish.action') : t('publish.retry')}
        />
      </form>
    </Page>
  );
}

function HalfDoneNotice({ halfDone: { service, failed }, undo }: { halfDone: HalfDone; undo: () => Promise<void> }) {
  const notify = useNotify();
  const { busy, run } = useAction();
  const name = nameOf(service);
  const remove = (): Promise<boolean> =>
    run(async () => {
      await undo();
      notify(t('publish.undone', { name }));
    });
  return (
    <div class="trouble" role="status">
      <span>{rich('publish.halfDone', { name, step: t(`publish.steps.${failed}`), b: bold })}</span>
      <button type="button" disabled={busy} onClick={() => void remove()}>
        {t('publish.undo')}
      </button>
    </div>
  );
}

function nameOf(service: Service): string {
  return service.collection === 'hosts' ? nameOfHost(service.row) : nameOfTunnel(service.row);
}
