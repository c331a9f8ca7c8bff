import type { TunnelModeName } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { ResourceField } from '../parts/resource-field.js';
import type { TunnelForm } from './tunnel-form.js';
import { MODE_NAMES, TUNNEL_MODES } from './tunnel-modes.js';

const MODES = MODE_NAMES.map((value) => ({ value, label: TUNNEL_MODES[value].label }));
const VERSIONS = [
  { value: '0', label: 'No' },
  { value: '1', label: 'Version 1 (text)' },
  { value: '2', label: 'Version 2 (binary)' },
];

interface TunnelFieldsProps {
  form: Form<TunnelForm>;
  /** A tunnel stays with its client. */
  isNew: boolean;
}

/** What the mode needs, and nothing else. */
export function TunnelFields({ form, isNew }: TunnelFieldsProps) {
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
          label="Client"
          value={form.values.client_id}
          problem={form.problem('client_id')}
          onChange={(id) => form.set('client_id', id)}
        />
      )}
      <SelectField
        label="Kind"
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
      <TextField label="Name" hint="To find it again; may be empty" {...text('name')} />
      {(mode.hasPort || mode.hasProxyProtocol) && <MoreFields form={form} />}
    </>
  );
}

function PortFields({ form }: { form: Form<TunnelForm> }) {
  return (
    <div class="form-row">
      <TextField
        label="Port of the gateway"
        hint="Empty: any free one"
        type="number"
        value={form.values.listen_port}
        problem={form.problem('listen_port')}
        onInput={(port) => form.set('listen_port', port)}
      />
      <TextField
        label="At address"
        hint="0.0.0.0: all of the gateway's"
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
      <summary>Addresses of visitors (PROXY protocol)</summary>
      {mode.hasProxyProtocol && (
        <SelectField
          label="Send the visitor's address to the target"
          hint="Only for targets that expect it"
          value={form.values.proxy_protocol}
          choices={VERSIONS}
          problem={form.problem('proxy_protocol')}
          onChange={(version) => form.set('proxy_protocol', version as TunnelForm['proxy_protocol'])}
        />
      )}
      {mode.hasPort && (
        <CheckField
          label="Visitors come through a proxy that says who they are"
          hint="Only proxies in TRUSTED_PROXIES are believed"
          checked={form.values.accept_proxy_protocol}
          problem={form.problem('accept_proxy_protocol')}
          onChange={(accept) => form.set('accept_proxy_protocol', accept)}
        />
      )}
    </details>
  );
}
