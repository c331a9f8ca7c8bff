import type { AuthPolicyPage, HostView, TunnelView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Card, Page, Trouble } from '../../shared/components/page.js';
import { QrCode } from '../../shared/components/qr-code.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useResource } from '../../shared/state/use-resource.js';
import { addressOf as hostAddress } from '../hosts/host-address.js';
import { t } from '../messages/index.js';
import { useGateway } from '../parts/gateway-context.js';
import { addressOf as tunnelAddress } from '../tunnels/tunnel-address.js';
import { TUNNEL_MODES } from '../tunnels/tunnel-modes.js';
import { textOfPorts } from '../tunnels/tunnel-ports.js';
import { LiveCheck } from './live-check.js';
import type { PublishedService } from './publication.js';
import { nameOfService } from './publish-end.js';

type Shown = Pick<PublishedService, 'kind'> & { row: HostView | TunnelView };

/** The address of a service to share, and whether it answers. The page's own address names the service. */
export function PublishedPage({ query }: PageProps) {
  const api = useApi();
  const kind = query['tunnel'] === undefined ? 'host' : 'tunnel';
  const id = Number(query[kind]);
  const { data, error, reload } = useResource(
    async (signal): Promise<PublishedService> =>
      ({ kind, row: await api.get<HostView & TunnelView>(`/${kind}s/${id}`, {}, signal) }) as Shown as PublishedService,
    [kind, id],
  );
  return (
    <Page
      title={data ? nameOfService(data) : t('publishing.publishedTitle')}
      actions={
        <>
          <a class="button" href={hrefTo('events', { resource_type: kind, resource_id: id })}>
            {t('nav.events')}
          </a>
          <a class="button" href={hrefTo(`${kind}s`)}>
            {t(kind === 'host' ? 'nav.hosts' : 'nav.tunnels')}
          </a>
          <a class="button" href={hrefTo('publish')}>
            {t('publishing.another')}
          </a>
        </>
      }
    >
      <Trouble error={error} retry={reload} waits={data === undefined} />
      {data && <Published key={`${data.kind} ${data.row.id}`} service={data} />}
    </Page>
  );
}

function Published({ service }: { service: PublishedService }) {
  const gateway = useGateway();
  const { kind, row } = service;
  const address = kind === 'host' ? hostAddress(row, gateway) : tunnelAddress(row, location.hostname);
  const isPrivate = kind === 'tunnel' && !TUNNEL_MODES[row.mode].hasPort;
  const domain = kind === 'host' ? row.host : null;
  return (
    <div class="publish">
      <Card title={t('publishing.share')}>
        {address === null ? (
          <p class="muted">{t(kind === 'host' ? 'publishing.manyNames' : 'publishing.byKey')}</p>
        ) : (
          <ShareAddress address={address} />
        )}
        {kind === 'tunnel' && !isPrivate && <SignInPage id={row.id} />}
      </Card>
      <LiveCheck
        service={{ kind, id: row.id, clientId: row.client_id, isPrivate }}
        domain={domain}
        // Targets of datagrams are not tried.
        ports={kind === 'tunnel' && row.mode === 'tcp' && row.port_count > 1 ? textOfPorts(row) : null}
      />
    </div>
  );
}

function ShareAddress({ address }: { address: string }) {
  const isLink = /^https?:/.test(address);
  return (
    <>
      <p class="secret">
        {isLink ? (
          <a href={address} target="_blank" rel="noopener noreferrer">
            {address}
          </a>
        ) : (
          <code>{address}</code>
        )}
        <CopyButton text={address} what={t('publishing.address')} />
      </p>
      <QrCode text={address} label={t('publishing.qrCode')} />
    </>
  );
}

/** Visitors of a port that is protected sign in on a page of the gateway. */
function SignInPage({ id }: { id: number }) {
  const api = useApi();
  const { data } = useResource(
    (signal) => api.get<AuthPolicyPage>('/auth-policies', { resource_type: 'tunnel', resource_id: id }, signal),
    [id],
  );
  // User names go into the proxy's own login.
  if (!data?.items.some(({ type, enabled }) => enabled === 1 && type !== 'basic')) return null;
  const address = new URL(`visit/tunnel/${id}`, document.baseURI).href;
  return (
    <>
      <p>{t('publishing.signInPage')}</p>
      <p class="secret">
        <a href={address} target="_blank" rel="noopener noreferrer">
          {address}
        </a>
        <CopyButton text={address} what={t('publishing.signInPageName')} />
      </p>
    </>
  );
}
