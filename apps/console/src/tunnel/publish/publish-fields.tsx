import type { ComponentChildren } from 'preact';
import { SelectField, TextField } from '../../shared/components/fields.js';
import { Card } from '../../shared/components/page.js';
import { linkTo } from '../../shared/components/rich-text.js';
import { Segments } from '../../shared/components/segments.js';
import { hrefTo } from '../../shared/state/route.js';
import type { Form } from '../../shared/state/use-form.js';
import { rich, t } from '../messages/index.js';
import { ResourceField } from '../parts/resource-field.js';
import { CountryFields } from './country-fields.js';
import { accessChoices, SERVICE_KINDS, type PublishForm } from './publish-form.js';

const KINDS = SERVICE_KINDS.map((id) => ({ id, label: t(`publish.kinds.${id}`) }));
const TARGETS = { web: 'http://127.0.0.1:3000', tcp: '127.0.0.1:22', udp: '127.0.0.1:53', secret: '127.0.0.1:22' };
const HTTPS = (['automatic', 'gateway', 'off'] as const).map((value) => ({
  value,
  label: t(`publish.httpsChoices.${value}`),
}));

interface SectionProps {
  form: Form<PublishForm>;
  /** The service exists already, so what it is stays. */
  isCreated: boolean;
}

/** All that publishing asks for, in the order in which people think of it. */
export function PublishFields({ form, isCreated }: SectionProps) {
  return (
    <>
      <fieldset class="plain" disabled={isCreated}>
        <KindSection form={form} />
        <WhereSection form={form} />
        <AddressSection form={form} />
      </fieldset>
      {form.values.kind !== 'secret' && <WhoSection form={form} isCreated={isCreated} />}
      <LimitsSection form={form} />
    </>
  );
}

function KindSection({ form }: { form: Form<PublishForm> }) {
  const { kind, access } = form.values;
  const choose = (id: PublishForm['kind']): void => {
    form.set('kind', id);
    if (!accessChoices(id).includes(access)) form.set('access', 'open');
  };
  return (
    <Card title={t('publish.what')}>
      <Segments label={t('publish.what')} choices={KINDS} current={kind} onChange={({ id }) => choose(id)} />
      <p class="hint">{t(`publish.kindHints.${kind}`)}</p>
    </Card>
  );
}

function WhereSection({ form }: { form: Form<PublishForm> }) {
  return (
    <Card title={t('publish.where')}>
      <div class="form-row">
        <div>
          <ResourceField
            kind="client"
            label={t('kinds.client')}
            value={form.values.client_id}
            problem={form.problem('client_id')}
            onChange={(id) => form.set('client_id', id)}
          />
          <p class="hint">{rich('publish.clientHint', { clients: linkTo(hrefTo('clients', { new: 1 })) })}</p>
        </div>
        <TextField
          label={t('words.target')}
          hint={t('publish.targetHint')}
          placeholder={TARGETS[form.values.kind]}
          required
          {...textOf(form, 'target_addr')}
        />
      </div>
    </Card>
  );
}

function AddressSection({ form }: { form: Form<PublishForm> }) {
  const { kind, https } = form.values;
  const fields: ComponentChildren =
    kind === 'web' ? (
      <>
        <TextField
          label={t('hosts.domain')}
          hint={t('publish.domainHint')}
          placeholder="app.example.org"
          required
          {...textOf(form, 'host')}
        />
        <SelectField
          label={t('publish.https')}
          value={https}
          choices={HTTPS}
          onChange={(value) => form.set('https', value as PublishForm['https'])}
        />
      </>
    ) : (
      <>
        {kind !== 'secret' && (
          <TextField
            label={t('tunnels.port')}
            hint={t('tunnels.portHint')}
            type="number"
            {...textOf(form, 'listen_port')}
          />
        )}
        <TextField label={t('common.name')} hint={t('tunnels.nameHint')} {...textOf(form, 'name')} />
      </>
    );
  return (
    <Card title={t('publish.address')}>
      <div class="form-row">{fields}</div>
    </Card>
  );
}

function WhoSection({ form, isCreated }: SectionProps) {
  const { kind, access } = form.values;
  const choices = accessChoices(kind).map((value) => ({ value, label: t(`publish.accessChoices.${value}`) }));
  return (
    <Card title={t('publish.who')}>
      <div class="form-row">
        <SelectField
          label={t('publish.access')}
          value={access}
          choices={choices}
          onChange={(value) => form.set('access', value as PublishForm['access'])}
        />
        {access === 'password' && (
          <TextField
            label={t('publish.password')}
            hint={t('publish.passwordHint')}
            type="password"
            autoComplete="new-password"
            required
            {...textOf(form, 'password')}
          />
        )}
        {access === 'users' && (
          <TextField
            label={t('publish.users')}
            hint={t('publish.usersHint')}
            rows={3}
            required
            {...textOf(form, 'users')}
          />
        )}
      </div>
      <fieldset class="plain" disabled={isCreated}>
        <CountryFields form={form} />
      </fieldset>
    </Card>
  );
}

function LimitsSection({ form }: { form: Form<PublishForm> }) {
  const isUsed = form.values.rate_limit !== '' || form.values.max_conn !== '';
  return (
    <details class="card" open={isUsed}>
      <summary>{t('publish.limits')}</summary>
      <p class="hint">{t('publish.limitsHint')}</p>
      <div class="form-row">
        <TextField
          label={t('clients.rateLimit')}
          hint={t('clients.rateLimitHint')}
          type="number"
          {...textOf(form, 'rate_limit')}
        />
        <TextField
          label={t('clients.maxConn')}
          hint={t('clients.maxConnHint')}
          type="number"
          {...textOf(form, 'max_conn')}
        />
      </div>
    </details>
  );
}

type TextName = 'name' | 'target_addr' | 'host' | 'listen_port' | 'password' | 'users' | 'rate_limit' | 'max_conn';

function textOf(form: Form<PublishForm>, name: TextName) {
  return {
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  };
}
