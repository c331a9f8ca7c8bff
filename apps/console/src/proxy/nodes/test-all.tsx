import type { JobView, SpeedTestProgress, SpeedTestView } from '@gatehouse/contracts';
import { useEffect, useState } from 'preact/hooks';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError } from '../../shared/api/api-error.js';
import { Meter } from '../../shared/components/meter.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { describeTest, isOver } from './test-progress.js';

const LOOK_MS = 700;
/** A test goes on while its page is left; coming back finds it again. */
const KEPT = 'gatehouse.proxy-gateway.speed-test';

/** Starts a test of all nodes, shows how far it is, and can end it. */
export function TestAll({ onDone, onProgress }: { onDone: () => void; onProgress: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const [jobId, setJobId] = useState(() => sessionStorage.getItem(KEPT));
  const keep = (id: string | null): void => {
    if (id === null) sessionStorage.removeItem(KEPT);
    else sessionStorage.setItem(KEPT, id);
    setJobId(id);
  };
  const start = (): Promise<boolean> =>
    run(async () => keep((await api.post<SpeedTestView>('/proxies/test-all', undefined, { limit: 1 })).job_id));
  return (
    <div class="card">
      {jobId === null ? (
        <div class="progress">
          <span class="muted">{t('nodes.testAllText')}</span>
          <button type="button" disabled={busy} onClick={() => void start()}>
            {t('nodes.testAll')}
          </button>
        </div>
      ) : (
        <RunningTest key={jobId} jobId={jobId} onDone={onDone} onProgress={onProgress} onClose={() => keep(null)} />
      )}
    </div>
  );
}

interface RunningTestProps {
  jobId: string;
  onDone: () => void;
  /** More results are there. */
  onProgress: () => void;
  onClose: () => void;
}

function RunningTest({ jobId, onDone, onProgress, onClose }: RunningTestProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const [over, setOver] = useState(false);
  const path = `/jobs/${segment(jobId)}`;
  const { data: job } = useResource(
    (signal) => api.get<JobView>(path, { limit: 1 }, signal).catch((error: unknown) => forget(error, onClose)),
    [jobId],
    over ? {} : { everyMs: LOOK_MS },
  );
  useEffect(() => {
    if (job === undefined || !isOver(job)) return;
    setOver(true);
    onDone();
  }, [job?.status]);
  const progress = (job?.progress ?? null) as SpeedTestProgress | null;
  useEffect(() => {
    if (progress !== null && progress.tested > 0) onProgress();
  }, [progress?.tested]);
  const ratio = progress === null || progress.total === 0 ? (over ? 1 : 0) : progress.tested / progress.total;
  return (
    <div class="progress">
      <Meter label={t('nodes.testedCount')} ratio={ratio} tone={over ? 'good' : 'info'} />
      {over ? (
        <button type="button" onClick={onClose}>
          {t('common.close')}
        </button>
      ) : (
        <button type="button" class="danger" disabled={busy} onClick={() => void run(() => api.delete(path))}>
          {t('nodes.cancelTest')}
        </button>
      )}
      <span role="status">
        {job === undefined ? t('nodes.starting') : describeTest(job.status, progress, job.error?.message ?? null)}
      </span>
    </div>
  );
}

/** A job that was cleared away is over. */
function forget(error: unknown, onClose: () => void): never {
  if (error instanceof ApiError && error.status === 404) onClose();
  throw error;
}
