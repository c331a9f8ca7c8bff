import type { HostMessageView, HostRequestDetail, HostRequestView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Facts, Trouble } from '../../shared/components/page.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatTime } from '../../shared/format/times.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { useMayWrite } from '../user-context.js';
import { curlOf } from './curl.js';
import { Replay } from './replay.js';
import { formatMs, StatusBadge } from './request-parts.js';

const RUNNING_MS = 1_000;

interface RequestDialogProps {
  hostId: number;
  request: HostRequestView;
  onClose: () => void;
}

/** Everything that is known of a request. */
export function RequestDialog({ hostId, request, onClose }: RequestDialogProps) {
  const api = useApi();
  const mayWrite = useMayWrite();
  const { data, error, reload } = useResource(
    (signal) => api.get<HostRequestDetail>(`/hosts/${hostId}/requests/${request.id}`, {}, signal),
    [hostId, request.id],
    request.ended_ms === null ? { everyMs: RUNNING_MS } : {},
  );
  return (
    <Dialog title={`${request.method} ${request.path}`} onClose={onClose} wide>
      <Trouble error={error} retry={reload} waits={data === undefined} />
      {data && (
        <>
          <p class="actions">
            <CopyButton text={curlOf(data)} label={t('requests.copyCurl')} what={t('requests.curl')} />
          </p>
          {mayWrite && data.request !== null && data.ended_ms !== null && (
            <details>
              <summary>{t('requests.replayMore')}</summary>
              <Replay hostId={hostId} request={data} onDone={onClose} />
            </details>
          )}
          <Facts facts={factsOf(data)} />
          <Message title={t('requests.request')} message={data.request} />
          <Message title={t('requests.answer')} message={data.answer} />
          {data.request === null && <p class="muted">{t('requests.noHeads')}</p>}
        </>
      )}
    </Dialog>
  );
}

function factsOf(request: HostRequestDetail): [string, preact.ComponentChildren][] {
  const sizes = (head: number, body: number): string =>
    t('requests.sizes', { head: formatBytes(head), body: formatBytes(body) });
  return [
    [t('common.status'), <StatusBadge key="status" request={request} />],
    [t('common.time'), formatTime(request.started_at)],
    [t('requests.visitor'), request.visitor_ip],
    [t('requests.address'), `${request.scheme}://${request.host}${request.path}`],
    [t('requests.version'), `HTTP/${request.http_version}`],
    ...(request.replay_of === null ? [] : [[t('requests.replayOf'), request.replay_of] as [string, string]]),
    ...(request.edge === null ? [] : [[t('requests.edge'), request.edge] as [string, string]]),
    ...(request.verified_ms === null
      ? []
      : [[t('requests.verified'), formatMs(request.verified_ms)] as [string, string]]),
    [t('requests.sent'), formatMs(request.sent_ms)],
    [t('requests.answered'), formatMs(request.answered_ms)],
    [t('requests.ended'), formatMs(request.ended_ms)],
    [t('requests.requestSize'), sizes(request.request_head_bytes, request.request_body_bytes)],
    [t('requests.answerSize'), sizes(request.answer_head_bytes, request.answer_body_bytes)],
  ];
}

function Message({ title, message }: { title: string; message: HostMessageView | null }) {
  if (message === null) return null;
  const { headers, body } = message;
  const notes = [
    ...(body?.encoding === 'base64' ? ['Base64'] : []),
    ...(body?.unpacked ? [t('requests.unpacked')] : []),
    ...(body?.truncated ? [t('requests.truncated')] : []),
  ];
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <pre tabIndex={0} aria-label={t('requests.headersOf', { message: title })}>
        {headers.map(({ name, value }) => `${name}: ${value}`).join('\n')}
      </pre>
      {body && (
        <pre tabIndex={0} aria-label={t('requests.bodyOf', { message: title })}>
          {body.content}
        </pre>
      )}
      {notes.length > 0 && <p class="muted">{notes.join(' · ')}</p>}
    </section>
  );
}
