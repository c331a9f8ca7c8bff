import type { ServiceCheckStep, ServiceCheckView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Card, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { code } from '../../shared/components/rich-text.js';
import { TextField } from '../../shared/components/fields.js';
import { formatTime } from '../../shared/format/times.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import { numberOr } from '../clients/client-form.js';
import { rich, t } from '../messages/index.js';
import { useGateway } from '../parts/gateway-context.js';
import { POLICY_TYPES } from '../policies/policy-form.js';
import { fixFor, type CheckedService } from './check-fixes.js';

/** A target that is down should not wait long for its next chance, nor be asked all the time. */
const REPEAT_MS = 3_000;

const TONES: Readonly<Record<ServiceCheckStep['state'], BadgeTone>> = {
  ok: 'good',
  warning: 'fair',
  pending: 'info',
  failed: 'bad',
};

interface LiveCheckProps {
  service: CheckedService;
  /** What visitors connect to, for DNS records. */
  domain: string | null;
  /** Of a tunnel with several, one of which can be chosen. */
  ports: string | null;
}

/** Whether visitors get an answer: checks until they do, and says what is wrong and where to put it right. */
export function LiveCheck({ service, domain, ports }: LiveCheckProps) {
  const api = useApi();
  const [port, setPort] = useState('');
  const chosen = useDebounced(port.trim());
  const [answers, setAnswers] = useState(false);
  const { data, error, reload } = useResource(
    async (signal) => {
      const path = `/${service.kind}s/${service.id}/check`;
      const asked = chosen === '' ? {} : { body: { port: numberOr(chosen, 0) } };
      const { body } = await api.send<ServiceCheckView>('POST', path, { signal, ...asked });
      setAnswers(body.answers);
      return body;
    },
    [service.kind, service.id, chosen],
    // Once it answers, the check has done its work.
    answers ? {} : { everyMs: REPEAT_MS },
  );
  return (
    <Card
      title={t('checks.title')}
      actions={
        answers && (
          <button type="button" onClick={reload}>
            {t('checks.again')}
          </button>
        )
      }
    >
      <p role="status">{data && <Summary check={data} />}</p>
      {ports !== null && (
        <TextField
          label={t('checks.port')}
          hint={t('checks.portHint', { ports })}
          type="number"
          value={port}
          onInput={setPort}
        />
      )}
      <Trouble error={error} />
      {data ? (
        <ul class="steps">
          {data.steps.map((step) => (
            <CheckStep key={step.code} step={step} service={service} domain={domain} port={data.port} />
          ))}
        </ul>
      ) : (
        <p class="muted">{t('checks.running')}</p>
      )}
    </Card>
  );
}

function Summary({ check: { answers, steps } }: { check: ServiceCheckView }) {
  if (answers) return <Badge tone="good">{t('checks.answers')}</Badge>;
  const isFailed = steps.some(({ state }) => state === 'failed');
  return (
    <>
      <Badge tone={isFailed ? 'bad' : 'info'}>{t(isFailed ? 'checks.noAnswer' : 'checks.waiting')}</Badge>{' '}
      <span class="muted">{t('checks.repeats')}</span>
    </>
  );
}

/** What differs from case to case, for people. */
function detailOf(
  { code: name, detail }: ServiceCheckStep,
  { isPrivate }: CheckedService,
  port: number | null,
): string | null {
  if (port !== null && name.startsWith('target_')) return t('checks.ofPort', { port });
  if (detail === null) return null;
  if (name === 'target_answers') return `HTTP ${detail}`;
  if (name === 'certificate_valid' || name === 'certificate_expired') {
    return t('checks.validUntil', { time: formatTime(detail) });
  }
  if (name !== 'access_protected') return detail;
  return isPrivate ? null : detail.split(', ').map(labelOfPolicy).join(', ');
}

function labelOfPolicy(type: string): string {
  return Object.entries(POLICY_TYPES).find(([name]) => name === type)?.[1].label ?? type;
}

interface CheckStepProps extends Omit<LiveCheckProps, 'ports'> {
  step: ServiceCheckStep;
  /** Whose target was tried. */
  port: number | null;
}

function CheckStep({ step, service, domain, port }: CheckStepProps) {
  const gateway = useGateway().agent_address.replace(/:\d+$/, '');
  const fix = step.state === 'ok' ? null : fixFor(step.code, service);
  const needsRecord = domain !== null && (step.code === 'dns_missing' || step.code === 'dns_elsewhere');
  return (
    <li>
      <Badge tone={TONES[step.state]}>{t(`checks.states.${step.state}`)}</Badge>
      <span>
        {service.isPrivate && step.code === 'access_protected' ? t('checks.byKey') : t(`checks.codes.${step.code}`)}
        <span class="second wrapped">{detailOf(step, service, port)}</span>
        {needsRecord && <span class="second wrapped">{rich('checks.dnsRecord', { domain, gateway, code })}</span>}
      </span>
      {fix && <a href={fix.href}>{t(`checks.fixes.${fix.place}`)}</a>}
    </li>
  );
}
