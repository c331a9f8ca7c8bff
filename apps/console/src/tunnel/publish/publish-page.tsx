import type { NewTunnelView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Card, Page } from '../../shared/components/page.js';
import { CheckField, TextField } from '../../shared/components/fields.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { focusFirstProblem } from '../../shared/state/focus-first-problem.js';
import { hrefTo } from '../../shared/state/route.js';
import { CertificateFields } from '../certificates/certificate-fields.js';
import { t } from '../messages/index.js';
import { TUNNEL_MODES } from '../tunnels/tunnel-modes.js';
import { VisitorKey } from '../tunnels/visitor-key.js';
import { PolicyChoice, RestrictionFields } from './access-fields.js';
import { AddressFields } from './address-fields.js';
import { ChoiceCards } from './choice-cards.js';
import { ClientPicker } from './client-picker.js';
import { InstallAgent } from './install-agent.js';
import { LimitFields } from './limit-fields.js';
import type { PublishedService } from './publication.js';
import { httpsOf, modeOf, PUBLISH_KINDS, type ServiceForm } from './publish-form.js';
import { PublishEnd } from './publish-end.js';
import { usePublish, type Publishing } from './use-publish.js';

const KINDS = PUBLISH_KINDS.map((value) => ({
  value,
  label: t(`publishing.kinds.${value}`),
  about: t(`publishing.kindHints.${value}`),
}));

/** From a service on a machine somewhere to an address that others can open, in one form. */
export function PublishPage({ query }: PageProps) {
  const publishing = usePublish(query);
  const [isInstalling, setInstalling] = useState(false);
  const [keyed, setKeyed] = useState<NewTunnelView | null>(null);
  const { service } = publishing;
  const done = (published: PublishedService): void => {
    const { kind, row } = published;
    // The key is shown once, so it comes before the address.
    if (kind === 'tunnel' && row.visitor_key !== null && keyed === null) setKeyed(row);
    else location.hash = hrefTo('published', { [kind]: row.id });
  };
  const submit = async (form: EventTarget | null): Promise<void> => {
    const published = await publishing.publish();
    if (published === null) focusFirstProblem(form);
    else done(published);
  };
  return (
    <Page title={t('publishing.title')}>
      <form
        class="publish"
        onSubmit={(event) => {
          event.preventDefault();
          if (publishing.progress.running === null) void submit(event.target);
        }}
      >
        <ServiceSection publishing={publishing} onInstall={() => setInstalling(true)} />
        <AccessSection publishing={publishing} />
        <PublishEnd publishing={publishing} />
      </form>
      {isInstalling && (
        <InstallAgent onCreated={(id) => service.set('client_id', String(id))} onClose={() => setInstalling(false)} />
      )}
      {keyed && <VisitorKey tunnel={keyed} onClose={() => done({ kind: 'tunnel', row: keyed })} />}
    </Page>
  );
}

/** A part of the form; what was saved can no longer be changed here. */
function Section({ title, saved, children }: { title: string; saved: boolean; children: ComponentChildren }) {
  return (
    <Card title={title}>
      <fieldset class="plain" disabled={saved}>
        {children}
      </fieldset>
    </Card>
  );
}

function ServiceSection({ publishing, onInstall }: { publishing: Publishing; onInstall: () => void }) {
  const { service, certificate, publication, setKind } = publishing;
  const saved = publication.has('service');
  const isOwn = service.values.kind === 'web' && httpsOf(service.values) === 'own';
  return (
    <>
      <Section title={t('publishing.what')} saved={saved}>
        <ChoiceCards label={t('publishing.what')} value={service.values.kind} choices={KINDS} onChange={setKind} />
      </Section>
      <Section title={t('publishing.where')} saved={saved}>
        <ClientPicker
          value={service.values.client_id}
          problem={service.problem('client_id')}
          onChange={(id) => service.set('client_id', id)}
          onInstall={onInstall}
        />
        <TargetField publishing={publishing} />
      </Section>
      <Section title={t('publishing.address')} saved={saved}>
        <AddressFields form={service} />
      </Section>
      {isOwn && (
        <Section title={t('hosts.certificate')} saved={publication.has('certificate')}>
          <CertificateFields form={certificate} />
        </Section>
      )}
    </>
  );
}

function TargetField({ publishing: { service } }: { publishing: Publishing }) {
  const { kind } = service.values;
  const { label, hint, placeholder, required } = targetWords(service.values);
  return (
    <>
      <TextField
        label={label}
        hint={hint}
        placeholder={placeholder}
        required={required}
        value={service.values.target_addr}
        problem={service.problem('target_addr')}
        onInput={(target) => service.set('target_addr', target)}
      />
      {kind === 'private' && (
        <CheckField
          label={t('publishing.direct')}
          checked={service.values.direct}
          onChange={(direct) => service.set('direct', direct)}
        />
      )}
    </>
  );
}

function targetWords(form: ServiceForm) {
  const { target } = TUNNEL_MODES[modeOf(form)];
  if (form.kind === 'proxy') return target;
  if (form.kind === 'file') return { ...target, hint: t('publishing.folderHint'), placeholder: '/srv/www' };
  const placeholder = form.kind === 'web' ? '127.0.0.1:3000' : form.kind === 'udp' ? '127.0.0.1:53' : '127.0.0.1:22';
  return { ...target, hint: t('publishing.targetHint'), placeholder };
}

function AccessSection({ publishing }: { publishing: Publishing }) {
  const { service, access, setAccess, policy, restriction, limits, publication } = publishing;
  return (
    <>
      <Section title={t('publishing.who')} saved={publication.has('policy')}>
        <PolicyChoice kind={service.values.kind} access={access} form={policy} onChange={setAccess} />
      </Section>
      <Section title={t('publishing.from')} saved={publication.has('rules')}>
        <RestrictionFields form={restriction} />
      </Section>
      <fieldset class="plain" disabled={publication.has('limits')} aria-label={t('publishing.limits')}>
        <LimitFields form={limits} />
      </fieldset>
    </>
  );
}
