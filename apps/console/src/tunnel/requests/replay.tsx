import type { HostReplayView, HostRequestDetail } from '@gatehouse/contracts';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useApi } from '../../shared/api/api-context.js';
import { useForm } from '../../shared/state/use-form.js';
import { fromLines } from '../hosts/host-form.js';
import { t } from '../messages/index.js';

interface ReplayForm {
  path: string;
  /** `Name: value` lines. */
  headers: string;
  body: string;
}

interface ReplayProps {
  hostId: number;
  request: HostRequestDetail;
  onDone: () => void;
}

/** Sends a request again, with changes where the reader makes some. */
export function Replay({ hostId, request, onDone }: ReplayProps) {
  const api = useApi();
  const notify = useNotify();
  const before: ReplayForm = { path: request.path, headers: '', body: textOf(request) };
  const form = useForm<ReplayForm>(before);
  const send = async ({ path, headers, body }: ReplayForm): Promise<void> => {
    const { left_out: left } = await api.post<HostReplayView>(`/hosts/${hostId}/replay`, {
      request_id: request.id,
      ...(path !== before.path && { path }),
      ...(headers.trim() !== '' && { headers: fromLines(headers) }),
      ...(body !== before.body && { body }),
    });
    notify(left.length === 0 ? t('requests.replayed') : t('requests.replayedWithout', { names: left.join(', ') }));
    onDone();
  };
  const field = (name: keyof ReplayForm) => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <form onSubmit={form.submit(send)}>
      <p class="muted">{t('requests.replayText')}</p>
      <TextField label={t('requests.replayPath')} {...field('path')} />
      <TextField
        label={t('requests.replayHeaders')}
        hint={t('requests.replayHeadersHint')}
        rows={3}
        {...field('headers')}
      />
      <TextField label={t('requests.replayBody')} rows={3} {...field('body')} />
      <FormEnd error={form.error} busy={form.busy} action={t('requests.replay')} />
    </form>
  );
}

/** Bytes cannot be changed here. */
function textOf({ request }: HostRequestDetail): string {
  return request?.body?.encoding === 'utf8' ? request.body.content : '';
}
