import type { HostView } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { ResourceField } from '../parts/resource-field.js';
import type { HostForm } from './host-form.js';

const SCHEMES = [
  { value: 'all', label: 'http and https' },
  { value: 'http', label: 'http only' },
  { value: 'https', label: 'https only' },
];

interface HostFieldsProps {
  form: Form<HostForm>;
  /** A host stays with its client. */
  isNew: boolean;
}

export function HostFields({ form, isNew }: HostFieldsProps) {
  const text = (name: 'host' | 'location' | 'target_addr') => ({
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
      <div class="form-row">
        <TextField label="Name" hint="app.example.org or *.example.org" required {...text('host')} />
        <TextField label="Path" hint="/ is everything; /api takes /api and what is below" {...text('location')} />
      </div>
      <TextField
        label="Target"
        hint="As the agent reaches it: http://, https:// or h2c:// and host:port. Several with commas take turns"
        placeholder="http://127.0.0.1:3000"
        required
        {...text('target_addr')}
      />
      <SelectField
        label="Visitors come by"
        value={form.values.scheme}
        choices={SCHEMES}
        problem={form.problem('scheme')}
        onChange={(scheme) => form.set('scheme', scheme as HostView['scheme'])}
      />
      <CheckField
        label="Automatic HTTPS"
        hint="A certificate from the certificate authority where there is none, and http leads to https. The name has to lead here from the internet."
        checked={form.values.auto_https}
        problem={form.problem('auto_https')}
        onChange={(on) => form.set('auto_https', on)}
      />
      <StrictPathField form={form} />
      <HeaderFields form={form} />
    </>
  );
}

function StrictPathField({ form }: { form: Form<HostForm> }) {
  if (form.values.location.trim().length <= 1) return null;
  return (
    <CheckField
      label="Refuse other spellings of the path"
      hint="For a policy on this path: the target might take /Admin or /admin;x for /admin"
      checked={form.values.strict_path}
      problem={form.problem('strict_path')}
      onChange={(on) => form.set('strict_path', on)}
    />
  );
}

function HeaderFields({ form }: { form: Form<HostForm> }) {
  const { rewrite_host: host, request_headers: asked, response_headers: answered } = form.values;
  const lines = (name: 'request_headers' | 'response_headers') => ({
    rows: 3,
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <details open={`${host}${asked}${answered}` !== ''}>
      <summary>Header fields on the way</summary>
      <TextField
        label="Host header sent to the target"
        hint="Empty: as the visitor said it"
        value={host}
        problem={form.problem('rewrite_host')}
        onInput={(value) => form.set('rewrite_host', value)}
      />
      <TextField
        label="Set on requests"
        hint="A line each: X-Name: value. Nothing after the colon takes the field away."
        {...lines('request_headers')}
      />
      <TextField label="Set on answers" {...lines('response_headers')} />
    </details>
  );
}
