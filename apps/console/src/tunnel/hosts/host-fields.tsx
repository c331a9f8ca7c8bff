import type { HostView } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { ResourceField } from '../parts/resource-field.js';
import { RedirectFields } from './redirect-fields.js';
import { HealthFields } from './health-fields.js';
import type { HostForm } from './host-form.js';

const SCHEMES = [
  { value: 'all', label: t('hosts.schemes.all') },
  { value: 'http', label: t('hosts.schemes.http') },
  { value: 'https', label: t('hosts.schemes.https') },
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
          label={t('kinds.client')}
          value={form.values.client_id}
          problem={form.problem('client_id')}
          onChange={(id) => form.set('client_id', id)}
        />
      )}
      <div class="form-row">
        <TextField label={t('hosts.domain')} hint={t('hosts.domainHint')} required {...text('host')} />
        <TextField label={t('hosts.path')} hint={t('hosts.pathHint')} {...text('location')} />
      </div>
      <TextField
        label={t('words.target')}
        hint={t('hosts.targetHint')}
        placeholder="http://127.0.0.1:3000"
        required
        {...text('target_addr')}
      />
      <SelectField
        label={t('hosts.scheme')}
        value={form.values.scheme}
        choices={SCHEMES}
        problem={form.problem('scheme')}
        onChange={(scheme) => form.set('scheme', scheme as HostView['scheme'])}
      />
      <CheckField
        label={t('hosts.autoHttps')}
        hint={t('hosts.autoHttpsHint')}
        checked={form.values.auto_https}
        problem={form.problem('auto_https')}
        onChange={(on) => form.set('auto_https', on)}
      />
      <StrictPathField form={form} />
      <RedirectFields form={form} />
      <HealthFields form={form} />
      <ForwardingFields form={form} />
      <HeaderFields form={form} />
    </>
  );
}

function StrictPathField({ form }: { form: Form<HostForm> }) {
  if (form.values.location.trim().length <= 1) return null;
  return (
    <CheckField
      label={t('hosts.strictPath')}
      hint={t('hosts.strictPathHint')}
      checked={form.values.strict_path}
      problem={form.problem('strict_path')}
      onChange={(on) => form.set('strict_path', on)}
    />
  );
}

function ForwardingFields({ form }: { form: Form<HostForm> }) {
  const { rewrite_path: path, sticky, compress, max_body_bytes: maxBody, error_page: errorPage } = form.values;
  return (
    <details open={sticky || compress || `${path}${maxBody}${errorPage}` !== ''}>
      <summary>{t('hosts.forwarding')}</summary>
      <TextField
        label={t('hosts.rewritePath')}
        hint={t('hosts.rewritePathHint')}
        value={path}
        problem={form.problem('rewrite_path')}
        onInput={(value) => form.set('rewrite_path', value)}
      />
      <TextField
        label={t('hosts.maxBody')}
        hint={t('hosts.maxBodyHint')}
        value={maxBody}
        problem={form.problem('max_body_bytes')}
        onInput={(value) => form.set('max_body_bytes', value)}
      />
      <CheckField
        label={t('hosts.sticky')}
        hint={t('hosts.stickyHint')}
        checked={sticky}
        problem={form.problem('sticky')}
        onChange={(on) => form.set('sticky', on)}
      />
      <CheckField
        label={t('hosts.compress')}
        hint={t('hosts.compressHint')}
        checked={compress}
        problem={form.problem('compress')}
        onChange={(on) => form.set('compress', on)}
      />
      <TextField
        label={t('hosts.errorPage')}
        hint={t('hosts.errorPageHint', { status: '{status}', reason: '{reason}' })}
        rows={4}
        value={errorPage}
        problem={form.problem('error_page')}
        onInput={(value) => form.set('error_page', value)}
      />
    </details>
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
      <summary>{t('hosts.headers')}</summary>
      <TextField
        label={t('hosts.rewriteHost')}
        hint={t('hosts.rewriteHostHint')}
        value={host}
        problem={form.problem('rewrite_host')}
        onInput={(value) => form.set('rewrite_host', value)}
      />
      <TextField label={t('hosts.requestHeaders')} hint={t('hosts.headersHint')} {...lines('request_headers')} />
      <TextField label={t('hosts.responseHeaders')} {...lines('response_headers')} />
    </details>
  );
}
