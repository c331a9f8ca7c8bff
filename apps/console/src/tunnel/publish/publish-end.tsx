import { Badge, type BadgeTone } from '../../shared/components/page.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';
import { nameOf as hostName } from '../hosts/host-address.js';
import { nameOf as tunnelName } from '../tunnels/tunnel-name.js';
import { stepsOf, type PublishedService, type PublishStep } from './publication.js';
import type { Publishing } from './use-publish.js';

export function nameOfService(service: PublishedService): string {
  return service.kind === 'host' ? hostName(service.row) : tunnelName(service.row);
}

/** The end of the form: its button, or what was saved and what was not. */
export function PublishEnd({ publishing }: { publishing: Publishing }) {
  const { progress, publication } = publishing;
  const isHalf = publication.service !== null && progress.failed !== null;
  return (
    <div class="publish-end">
      {isHalf ? <HalfDone publishing={publishing} /> : <Refusal publishing={publishing} />}
      <div class="dialog-actions">
        {isHalf && <UndoButton publishing={publishing} />}
        <button type="submit" class="primary" disabled={progress.running !== null}>
          {progress.running === null
            ? t(isHalf ? 'common.tryAgain' : 'publishing.publish')
            : t(`publishing.running.${progress.running}`)}
        </button>
      </div>
    </div>
  );
}

/** What no field shows. */
function Refusal({ publishing: { service, certificate, policy, restriction, limits } }: { publishing: Publishing }) {
  const forms = [service, certificate, policy, restriction, limits];
  return (
    <p class="form-error" role="alert">
      {forms.map(({ error }) => error).find((error) => error !== null)}
    </p>
  );
}

/** Which step failed and why; the service stays disabled until all are done. */
function HalfDone({ publishing: { progress, publication, plan } }: { publishing: Publishing }) {
  const { failed, error } = progress;
  if (failed === null || publication.service === null) return null;
  const stateOf = (step: PublishStep): [BadgeTone, string] => {
    if (publication.has(step)) return ['good', t('publishing.stepStates.done')];
    return step === failed ? ['bad', t('publishing.stepStates.failed')] : ['none', t('publishing.stepStates.open')];
  };
  return (
    <div role="alert">
      <p class="trouble">
        <span>{t('publishing.half', { name: nameOfService(publication.service) })}</span>
      </p>
      <ul class="steps">
        {stepsOf(plan()).map((step) => {
          const [tone, text] = stateOf(step);
          return (
            <li key={step}>
              <Badge tone={tone}>{text}</Badge>
              <span>
                {t(`publishing.steps.${step}`)}
                {step === failed && <span class="second problem wrapped">{error}</span>}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function UndoButton({ publishing: { undo, publication, progress } }: { publishing: Publishing }) {
  const { busy, run } = useAction();
  const name = publication.service === null ? '' : nameOfService(publication.service);
  return (
    <button
      type="button"
      class="danger"
      disabled={busy || progress.running !== null}
      onClick={() => void run(undo, t('publishing.undone', { name }))}
    >
      {t('publishing.undo')}
    </button>
  );
}
