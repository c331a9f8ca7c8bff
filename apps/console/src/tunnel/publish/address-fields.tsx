import { SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { code } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { useGateway } from '../parts/gateway-context.js';
import { TUNNEL_MODES } from '../tunnels/tunnel-modes.js';
import { httpsOf, modeOf, type Https, type ServiceForm } from './publish-form.js';

const HTTPS = (['automatic', 'own', 'none'] as const).map((value) => ({
  value,
  label: t(`publishing.https.${value}`),
}));
const PROXIES = (['mix_proxy', 'http_proxy', 'socks5'] as const).map((value) => ({
  value,
  label: t(`tunnels.modes.${value}`),
}));

interface AddressFieldsProps {
  form: Form<ServiceForm>;
}

/** By which name or port visitors come. */
export function AddressFields({ form }: AddressFieldsProps) {
  const { kind } = form.values;
  return (
    <>
      {kind === 'web' ? <DomainFields form={form} /> : <NameFields form={form} />}
      {kind === 'proxy' && (
        <SelectField
          label={t('publishing.proxyType')}
          value={form.values.mode}
          choices={PROXIES}
          onChange={(mode) => form.set('mode', mode as ServiceForm['mode'])}
        />
      )}
    </>
  );
}

function DomainFields({ form }: AddressFieldsProps) {
  const { agent_address: agents, automatic_https: isAutomatic } = useGateway();
  const gateway = agents.replace(/:\d+$/, '');
  const https = httpsOf(form.values);
  return (
    <>
      <div class="form-row">
        <TextField
          label={t('hosts.domain')}
          hint={rich('publishing.domainHint', { gateway, code })}
          placeholder="app.example.org"
          required
          value={form.values.host}
          problem={form.problem('host')}
          onInput={(host) => form.set('host', host)}
        />
        <TextField
          label={t('hosts.path')}
          hint={t('hosts.pathHint')}
          value={form.values.location}
          problem={form.problem('location')}
          onInput={(path) => form.set('location', path)}
        />
      </div>
      <SelectField
        label="HTTPS"
        hint={https === 'automatic' && !isAutomatic ? t('publishing.httpsOff') : t(`publishing.httpsHints.${https}`)}
        value={https}
        choices={HTTPS}
        problem={form.problem('auto_https')}
        onChange={(value) => form.set('https', value as Https)}
      />
    </>
  );
}

function NameFields({ form }: AddressFieldsProps) {
  const isPrivate = form.values.kind === 'private';
  return (
    <div class="form-row">
      {!isPrivate && (
        <TextField
          label={t('tunnels.port')}
          hint={t(TUNNEL_MODES[modeOf(form.values)].mayHaveRange ? 'tunnels.portsHint' : 'tunnels.portHint')}
          value={form.values.listen_port}
          problem={form.problem('listen_port')}
          onInput={(port) => form.set('listen_port', port)}
        />
      )}
      <TextField
        label={t('common.name')}
        hint={t('tunnels.nameHint')}
        value={form.values.name}
        problem={form.problem('name')}
        onInput={(name) => form.set('name', name)}
      />
    </div>
  );
}
