import type { CertificateView, HostView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError } from '../../shared/api/api-error.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Trouble } from '../../shared/components/page.js';
import { useAction } from '../../shared/state/use-action.js';
import { useForm } from '../../shared/state/use-form.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { CertificateFacts } from '../certificates/certificate-facts.js';
import { CertificateFields } from '../certificates/certificate-fields.js';
import type { CertificateForm } from '../certificates/certificate-form.js';
import { useMayWrite } from '../user-context.js';
import { nameOf } from './host-address.js';

interface HostCertificateProps {
  host: HostView;
  onClose: () => void;
  onDone: () => void;
}

/** What a host shows to visitors by https, and what can be done about it. */
export function HostCertificate({ host, onClose, onDone }: HostCertificateProps) {
  const api = useApi();
  const mayWrite = useMayWrite();
  const [isUploading, setIsUploading] = useState(false);
  const { data, error, reload } = useResource(
    async (signal) => ({
      certificate: await findCertificate(api.get<CertificateView>(`/certificates/${host.id}`, {}, signal)),
    }),
    [host.id],
    { everyMs: 3_000 },
  );
  const changed = (): void => {
    setIsUploading(false);
    reload();
    onDone();
  };
  return (
    <Dialog title={t('hosts.certificateOf', { name: nameOf(host) })} onClose={onClose} wide>
      <Trouble error={error} waits={data === undefined} />
      {data && (data.certificate ? <CertificateFacts certificate={data.certificate} /> : <NoCertificate />)}
      {data && mayWrite && !isUploading && (
        <CertificateActions
          host={host}
          certificate={data.certificate}
          onUpload={() => setIsUploading(true)}
          onDone={changed}
        />
      )}
      {isUploading && <UploadForm host={host} onCancel={() => setIsUploading(false)} onDone={changed} />}
    </Dialog>
  );
}

function NoCertificate() {
  return <p>{t('certificates.noneOfHost')}</p>;
}

/** None is no error here. */
async function findCertificate(asked: Promise<CertificateView>): Promise<CertificateView | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

interface CertificateActionsProps {
  host: HostView;
  certificate: CertificateView | null;
  onUpload: () => void;
  onDone: () => void;
}

function CertificateActions({ host, certificate, onUpload, onDone }: CertificateActionsProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const perform = async (work: () => Promise<unknown>, success: string): Promise<void> => {
    if (await run(work, success)) onDone();
  };
  const canOrder = host.auto_https === 1 && certificate?.source !== 'file' && certificate?.source !== 'upload';
  return (
    <div class="actions">
      <button type="button" onClick={onUpload}>
        {t('certificates.upload')}
      </button>
      {canOrder && (
        <button
          type="button"
          disabled={busy}
          onClick={() => void perform(() => api.post(`/hosts/${host.id}/acme/renew`), t('certificates.ordered'))}
        >
          {t('certificates.order')}
        </button>
      )}
      {certificate !== null && certificate.source !== 'file' && (
        <button
          type="button"
          class="danger"
          disabled={busy}
          onClick={() => void perform(() => api.delete(`/hosts/${host.id}/cert`), t('certificates.removed'))}
        >
          {t('certificates.remove')}
        </button>
      )}
    </div>
  );
}

function UploadForm({ host, onCancel, onDone }: { host: HostView; onCancel: () => void; onDone: () => void }) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<CertificateForm>({ certificate: '', key: '' });
  const upload = async (values: CertificateForm): Promise<void> => {
    await api.post<CertificateView>(`/hosts/${host.id}/cert`, values);
    notify(t('certificates.uploaded'));
    onDone();
  };
  return (
    <form onSubmit={form.submit(upload)}>
      <CertificateFields form={form} />
      <FormEnd error={form.error} busy={form.busy} action={t('certificates.uploadAction')} onCancel={onCancel} />
    </form>
  );
}
