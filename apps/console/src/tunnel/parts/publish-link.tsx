import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';
import type { PublishKind } from '../publish/publish-form.js';

interface PublishLinkProps {
  /** What is chosen in the form. */
  kind?: PublishKind;
  /** Empty: to be chosen. */
  clientId?: string;
}

/** To the form that makes a service from beginning to end. */
export function PublishLink({ kind, clientId = '' }: PublishLinkProps) {
  const query = { ...(kind && { kind }), ...(clientId !== '' && { client_id: clientId }) };
  return (
    <a class="button primary" href={hrefTo('publish', query)}>
      {t('publishing.title')}
    </a>
  );
}
