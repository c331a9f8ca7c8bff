import { useState } from 'preact/hooks';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Card, Page } from '../../shared/components/page.js';
import { QrCode } from '../../shared/components/qr-code.js';
import { hrefTo } from '../../shared/state/route.js';
import { addressOf as addressOfHost } from '../hosts/host-address.js';
import { t } from '../messages/index.js';
import { useGateway } from '../parts/gateway-context.js';
import { addressOf as addressOfTunnel } from '../tunnels/tunnel-address.js';
import { VisitorKey } from '../tunnels/visitor-key.js';
import { LiveCheck } from './live-check.js';
import type { Service } from './use-publish.js';

interface PublishedProps {
  service: Service;
  name: string;
  onAgain: () => void;
}

/** The address to share, and whether it answers. */
export function Published({ service, name, onAgain }: PublishedProps) {
  const address = useAddress(service);
  const [isKeyShown, setIsKeyShown] = useState(service.collection === 'tunnels' && service.row.visitor_key !== null);
  return (
    <Page
      title={t('publish.done', { name })}
      actions={
        <>
          <a class="button" href={hrefTo(service.collection, { q: name })}>
            {t('publish.edit')}
          </a>
          <button type="button" onClick={onAgain}>
            {t('publish.another')}
          </button>
        </>
      }
    >
      {address !== null && (
        <Card title={t('publish.address')}>
          <div class="published">
            <p class="address">
              {/^https?:/.test(address) ? (
                <a href={address} target="_blank" rel="noreferrer">
                  {address}
                </a>
              ) : (
                <code>{address}</code>
              )}{' '}
              <CopyButton text={address} what={t('publish.address')} />
            </p>
            <QrCode text={address} label={t('publish.qrCode')} />
          </div>
        </Card>
      )}
      <LiveCheck path={`/${service.collection}/${service.row.id}/check`} />
      {isKeyShown && service.collection === 'tunnels' && (
        <VisitorKey tunnel={service.row} onClose={() => setIsKeyShown(false)} />
      )}
    </Page>
  );
}

function useAddress(service: Service): string | null {
  const gateway = useGateway();
  return service.collection === 'hosts'
    ? addressOfHost(service.row, gateway)
    : addressOfTunnel(service.row, location.hostname);
}
