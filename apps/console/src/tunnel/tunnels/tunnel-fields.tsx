import type { TunnelModeName, TunnelView } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { QuotaFields } from '../parts/quota-fields.js';
import { ResourceField } from '../parts/resource-field.js';
import type { TunnelForm } from './tunnel-form.js';
import { MODE_NAMES, TUNNEL_MODES } from './tunnel-modes.js';

const MODES = MODE_NAMES.map((value) => ({ value, label: TUNNEL_MODES[value].label }));
const VERSIONS = [
  { value: '0', label: t('tunnels.versions.none') },
  { value: '1', label: t('tunnels.versions.v1') },
  { value: '2', label: t('tunnels.versions.v2') },
];

interface TunnelFieldsProps {
  form: Form<TunnelForm>;
  /** A tunnel stays with its client. */
  isNew: boolean;
  stored?: TunnelView | null;
}

/** What the mode needs, and nothing else. */
export function TunnelFields({ form, isNew, stored = null }: TunnelFieldsProps) {
  const mode = TUNNEL_MODES[form.values.mode];
  const { target } = mode;
  const text = (name: 'name' | 'target_addr') => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <>
      {isNew && (
        <ResourceField
          kind="client"
          label={t('kinds.client')}
          value={form.values.client_id}
          problem={form.problem('client_id')}
          onChange={(id) => form.set('client_id', id)}
        />
      )}
      <SelectField
        label={t('common.type')}
        hint={mode.about}
        value={form.values.mode}
        choices={MODES}
        problem={form.problem('mode')}
        onChange={(value) => form.set('mode', value as TunnelModeName)}
      />
      <TextField
        label={target.label}
        hint={target.hint}
        placeholder={target.placeholder}
        required={target.required}
        autofocus={isNew && form.values.client_id !== ''}
        {...text('target_addr')}
      />
      {mode.hasPort && <PortFields form={form} />}
      <TextField label={t('common.name')} hint={t('tunnels.nameHint')} {...text('name')} />
      <TextField
        label={t('clients.rateLimit')}
        hint={t('tunnels.rateLimitHint')}
        type="number"
        value={form.values.rate_limit}
        problem={form.problem('rate_limit')}
        onInput={(rate) => form.set('rate_limit', rate)}
      />
      <QuotaFields form={form} stored={stored} />
      {(mode.hasPort || mode.hasProxyProtocol) && <MoreFields form={form} />}
    </>
  );
}

function PortFields({ form }: { form: Form<TunnelForm> }) {
  const { mayHaveRange } = TUNNEL_MODES[form.values.mode];
  return (
    <div class="form-row">
      <TextField
        label={t('tunnels.port')}
        hint={t(mayHaveRange ? 'tunnels.portsHint' : 'tunnels.portHint')}
        value={form.values.listen_port}
        problem={form.problem('listen_port')}
        onInput={(port) => form.set('listen_port', port)}
      />
      <TextField
        label={t('tunnels.listenIp')}
        hint={t('tunnels.listenIpHint')}
        value={form.values.listen_ip}
        problem={form.problem('listen_ip')}
        onInput={(address) => form.set('listen_ip', address)}
      />
    </div>
  );
}

function MoreFields({ form }: { form: Form<TunnelForm> }) {
  const mode = TUNNEL_MODES[form.values.mode];
  const isUsed = form.values.proxy_protocol !== '0' || form.values.accept_proxy_protocol;
  return (
    <details open={isUsed}>
      <summary>{t('tunnels.proxyProtocol')}</summary>
      {mode.hasProxyProtocol && (
        <SelectField
          label={t('tunnels.sendProxy')}
          hint={t('tunnels.sendProxyHint')}
          value={form.values.proxy_protocol}
          choices={VERSIONS}
          problem={form.problem('proxy_protocol')}
          onChange={(version) => form.set('proxy_protocol', version as TunnelForm['proxy_protocol'])}
        />
      )}
      {mode.hasPort && (
        <CheckField
          label={t('tunnels.acceptProxy')}
          hint={t('tunnels.acceptProxyHint')}
          checked={form.values.accept_proxy_protocol}
          problem={form.problem('accept_proxy_protocol')}
          onChange={(accept) => form.set('accept_proxy_protocol', accept)}
        />
      )}
    </details>
  );
}
