import { TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import type { CertificateForm } from './certificate-form.js';

/** The certificate that the user brings. */
export function CertificateFields({ form }: { form: Form<CertificateForm> }) {
  const text = (name: keyof CertificateForm) => ({
    rows: 5,
    required: true,
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <>
      <TextField
        label={t('hosts.certificate')}
        hint={t('certificates.chainHint')}
        placeholder="-----BEGIN CERTIFICATE-----"
        {...text('certificate')}
      />
      <TextField
        label={t('certificates.privateKey')}
        hint={t('certificates.privateKeyHint')}
        placeholder="-----BEGIN PRIVATE KEY-----"
        {...text('key')}
      />
    </>
  );
}
