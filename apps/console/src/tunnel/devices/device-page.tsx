import type { DeviceRequestView } from '@gatehouse/contracts';
import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { Card, Facts, Page } from '../../shared/components/page.js';
import { bold, code as asCode, linkTo } from '../../shared/components/rich-text.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useAction } from '../../shared/state/use-action.js';
import { useForm } from '../../shared/state/use-form.js';
import { rich, t } from '../messages/index.js';
import { NO_PROOF, ProofFields, proofOf, type Proof } from '../parts/proof-fields.js';

type State = { at: 'code' } | { at: 'decision'; request: DeviceRequestView } | { at: 'end'; approved: boolean };

/** Where `gatehouse-agent login` is approved (RFC 8628 section 3.3). */
export function DevicePage({ query }: PageProps) {
  const [state, setState] = useState<State>({ at: 'code' });
  return (
    <Page title={t('devices.title')}>
      {state.at === 'code' && (
        <CodeForm given={query['user_code'] ?? ''} onFound={(request) => setState({ at: 'decision', request })} />
      )}
      {state.at === 'decision' && (
        <Decision request={state.request} onEnd={(approved) => setState({ at: 'end', approved })} />
      )}
      {state.at === 'end' && <End approved={state.approved} />}
    </Page>
  );
}

/** A code in the address is only filled in: its sender may not be the one who sees it. */
function CodeForm({ given, onFound }: { given: string; onFound: (request: DeviceRequestView) => void }) {
  const api = useApi();
  const form = useForm({ user_code: given });
  // Another link may be opened while the page is.
  useEffect(() => form.set('user_code', given), [given]);
  const find = async ({ user_code }: { user_code: string }): Promise<void> =>
    onFound(await api.post<DeviceRequestView>('/auth/device/find', { user_code }));
  return (
    <Card title={t('devices.code')}>
      <form onSubmit={form.submit(find)}>
        <p>{rich('devices.intro', { code: asCode })}</p>
        <TextField
          label={t('devices.code')}
          autoComplete="off"
          required
          autofocus
          value={form.values.user_code}
          problem={form.problem('user_code')}
          onInput={(text) => form.set('user_code', text)}
        />
        <FormEnd error={form.error} busy={form.busy} action={t('devices.continue')} />
      </form>
    </Card>
  );
}

/** RFC 8628 section 5.4: who sent the code may be someone else, so the page says what to compare. */
function Decision({ request, onEnd }: { request: DeviceRequestView; onEnd: (approved: boolean) => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const form = useForm<Proof>({ ...NO_PROOF });
  const { user_code: code, machine, address, created_at: begun } = request;
  const decide = (approved: boolean, proof: object = {}): Promise<unknown> =>
    api.post('/auth/device/decide', { user_code: code, approved, ...proof });
  const approve = async (proof: Proof): Promise<void> => {
    await decide(true, proofOf(proof));
    onEnd(true);
  };
  const refuse = async (): Promise<void> => {
    if (await run(() => decide(false))) onEnd(false);
  };
  return (
    <Card title={t('devices.question', { machine })}>
      <Facts
        facts={[
          [t('devices.code'), <code key="code">{code}</code>],
          [t('devices.machine'), machine],
          [t('words.address'), address],
          [t('devices.begun'), `${formatTime(begun)} (${formatRelative(begun)})`],
        ]}
      />
      <p>{rich('devices.warning', { b: bold })}</p>
      <p>{t('devices.meaning', { machine })}</p>
      <form onSubmit={form.submit(approve)}>
        <ProofFields form={form} />
        <p class="form-error" role="alert">
          {form.error}
        </p>
        <div class="dialog-actions">
          <button type="button" disabled={busy || form.busy} onClick={() => void refuse()}>
            {t('devices.refuse')}
          </button>
          <button type="submit" class="primary" disabled={busy || form.busy}>
            {t('devices.approve')}
          </button>
        </div>
      </form>
    </Card>
  );
}

function End({ approved }: { approved: boolean }) {
  return (
    <Card title={t(approved ? 'devices.approved' : 'devices.refused')}>
      <p role="status">
        {approved ? rich('devices.approvedText', { a: linkTo(hrefTo('keys')) }) : t('devices.refusedText')}
      </p>
    </Card>
  );
}
