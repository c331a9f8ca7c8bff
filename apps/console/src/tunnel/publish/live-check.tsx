import type { ServiceCheckStep, ServiceCheckView } from '@gatehouse/contracts';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/api-error.js';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Card, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { t } from '../messages/index.js';

const AGAIN_MS = 3_000;
/** After that, people ask for the next check: a missing agent may take hours. */
const MOST_CHECKS = 40;

const TONES: Readonly<Record<ServiceCheckStep['state'], BadgeTone>> = {
  ok: 'good',
  warning: 'fair',
  pending: 'info',
  failed: 'bad',
};

/** Checks whether visitors get an answer, again and again until they do. */
export function LiveCheck({ path }: { path: string }) {
  const { view, error, busy, check } = useChecks(path);
  return (
    <Card
      title={t('publish.checkTitle')}
      actions={
        <button type="button" disabled={busy} onClick={check}>
          {t('publish.checkAgain')}
        </button>
      }
    >
      <Trouble error={error} />
      <p role="status" class="strong">
        {view === null ? t('publish.checking') : t(verdictOf(view))}
      </p>
      <ul class="checks">
        {view?.steps.map(({ code, state, detail }) => (
          <li key={code}>
            <Badge tone={TONES[state]}>{t(`publish.states.${state}`)}</Badge> {t(`publish.checks.${code}`)}
            {detail !== null && <span class="muted"> {detail}</span>}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function verdictOf({ answers, steps }: ServiceCheckView) {
  if (answers) return 'publish.answers';
  return steps.some(({ state }) => state === 'failed') ? 'publish.answersNot' : 'publish.waits';
}

function useChecks(path: string) {
  const api = useApi();
  const [view, setView] = useState<ServiceCheckView | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (left: number): Promise<void> => {
      setBusy(true);
      const seen = await api.post<ServiceCheckView>(path).catch((thrown: unknown) => messageOf(thrown));
      if (isOver) return;
      setBusy(false);
      setError(typeof seen === 'string' ? seen : null);
      if (typeof seen !== 'string') setView(seen);
      const answers = typeof seen !== 'string' && seen.answers;
      if (!answers && left > 1) timer = setTimeout(() => void look(left - 1), AGAIN_MS);
    };
    void look(MOST_CHECKS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, round]);
  return { view, error, busy, check: () => setRound((before) => before + 1) };
}
