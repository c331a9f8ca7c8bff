import type { ProxyUserView, SystemStatus } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm, Dialog } from '../../shared/components/dialog.js';
import { Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { bold, code } from '../../shared/components/rich-text.js';
import { Secret } from '../../shared/components/secret.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { rich, t } from '../messages/index.js';
import { proxyAddresses } from './proxy-addresses.js';

interface UserDialogProps {
  user: ProxyUserView;
  onClose: () => void;
  onDone: () => void;
}

const KINDS = { http: 'HTTP', socks5h: 'SOCKS5' } as const;

/** What programs are given to use the proxy as this user. */
export function ShowAddress({ user, onClose }: Omit<UserDialogProps, 'onDone'>) {
  const api = useApi();
  const { data, error, reload } = useResource((signal) => api.get<SystemStatus>('/system/status', {}, signal), []);
  const addresses = data && proxyAddresses(user, data.kernel.listeners, location.hostname);
  return (
    <Dialog title={t('proxyUsers.addressTitle', { name: user.name })} onClose={onClose} wide>
      <Trouble error={error} retry={reload} waits={data === undefined} />
      {user.password === null && <p class="problem">{t('proxyUsers.passwordLost')}</p>}
      {addresses?.length === 0 && <p>{t('proxyUsers.noListener')}</p>}
      {addresses?.map(({ scheme, url }) => (
        <section key={scheme}>
          <h3>{KINDS[scheme]}</h3>
          <Secret text={url} what={t('proxyUsers.addressOf', { kind: KINDS[scheme] })} />
        </section>
      ))}
      <p class="muted">{rich('proxyUsers.wishes', { login: `${user.name}-country-jp-session-a1`, code })}</p>
    </Dialog>
  );
}

export function ResetTraffic({ user: { id, name }, onClose, onDone }: UserDialogProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const reset = async (): Promise<void> => {
    const done = t('proxyUsers.resetDone', { name });
    if (!(await run(() => api.post(`/proxy-users/${id}/reset-traffic`), done))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('proxyUsers.resetTitle')}
      action={t('proxyUsers.reset')}
      busy={busy}
      onConfirm={() => void reset()}
      onClose={onClose}
    >
      <p>{rich('proxyUsers.resetText', { name, b: bold })}</p>
    </Confirm>
  );
}

export function RemoveUser({ user: { id, name }, onClose, onDone }: UserDialogProps) {
  return (
    <RemoveDialog
      title={t('proxyUsers.deleteTitle')}
      path={`/proxy-users/${id}`}
      name={name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{rich('proxyUsers.deleteText', { name, b: bold })}</p>
    </RemoveDialog>
  );
}
