import type { ServiceCheckStep, ServiceCheckView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Card, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { code } from '../../shared/components/rich-text.js';
import { formatTime } from '../../shared/format/times.js';
import { useResource } from '../../shared/state/use-resource.js';
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
}

/** Whether visitors get an answer: checks until they do, and says what is wrong and where to put it right. */
export function LiveCheck({ service, domain }: LiveCheckProps) {
  const api = useApi();
  const [answers, setAnswers] = useState(false);
  const { data, error, reload } = useResource(
    async (signal) => {
      const path = `/${service.kind}s/${service.id}/check`;
      const { body } = await api.send<ServiceCheckView>('POST', path, { signal });
      setAnswers(body.answers);
      return body;
    },
    [service.kind, service.id],
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
      <Trouble error={error} />
      {data ? (
        <ul class="steps">
          {data.steps.map((step) => (
            <CheckStep key={step.code} step={step} service={service} domain={domain} />
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
function detailOf({ code: name, detail }: ServiceCheckStep, { isPrivate }: CheckedService): string | null {
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

function CheckStep({ step, service, domain }: LiveCheckProps & { step: ServiceCheckStep }) {
  const gateway = useGateway().agent_address.replace(/:\d+$/, '');
  const fix = step.state === 'ok' ? null : fixFor(step.code, service);
  const needsRecord = domain !== null && (step.code === 'dns_missing' || step.code === 'dns_elsewhere');
  return (
    <li>
      <Badge tone={TONES[step.state]}>{t(`checks.states.${step.state}`)}</Badge>
      <span>
        {service.isPrivate && step.code === 'access_protected' ? t('checks.byKey') : t(`checks.codes.${step.code}`)}
        <span class="second wrapped">{detailOf(step, service)}</span>
        {needsRecord && <span class="second wrapped">{rich('checks.dnsRecord', { domain, gateway, code })}</span>}
      </span>
      {fix && <a href={fix.href}>{t(`checks.fixes.${fix.place}`)}</a>}
    </li>
  );
}
