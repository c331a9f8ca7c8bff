import type { HostView, NewTunnelView } from '@gatehouse/contracts';
import { useRef, useState } from 'preact/hooks';
import type { ApiClient } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import {
  collectionOf,
  limitsBody,
  policyBody,
  ruleBodies,
  serviceBody,
  stepsOf,
  type PublishForm,
  type StepName,
} from './publish-form.js';

/** What was created; a tunnel's visitor key is shown once. */
export type Service = { collection: 'hosts'; row: HostView } | { collection: 'tunnels'; row: NewTunnelView };

export interface HalfDone {
  service: Service;
  /** The step that failed. */
  failed: StepName;
}

/** Publishes step by step. After a failure, publishing again goes on with the step that failed. */
export function usePublish() {
  const api = useApi();
  const [halfDone, setHalfDone] = useState<HalfDone | null>(null);
  const progress = useRef<Progress>({ service: null, done: new Set(), rules: 0 });
  const publish = async (form: PublishForm): Promise<Service> => {
    const state = progress.current;
    for (const step of stepsOf(form).filter((name) => !state.done.has(name))) {
      try {
        await runStep(api, step, form, state);
        state.done.add(step);
      } catch (error) {
        setHalfDone(state.service && { service: state.service, failed: step });
        throw error;
      }
    }
    // The first step created it.
    return state.service!;
  };
  const undo = async (): Promise<void> => {
    const { service } = progress.current;
    if (service !== null) await api.delete(`/${service.collection}/${service.row.id}`);
    progress.current = { service: null, done: new Set(), rules: 0 };
    setHalfDone(null);
  };
  return { publish, undo, halfDone };
}

interface Progress {
  service: Service | null;
  done: Set<StepName>;
  /** How many rules exist already. */
  rules: number;
}

async function runStep(api: ApiClient, step: StepName, form: PublishForm, progress: Progress): Promise<void> {
  if (step === 'create') {
    const collection = collectionOf(form);
    const row: unknown = await api.post(`/${collection}`, serviceBody(form));
    progress.service = { collection, row } as Service;
    return;
  }
  const { collection, row } = progress.service!;
  switch (step) {
    case 'policy':
      await api.post('/auth-policies', policyBody(form, row.id));
      return;
    case 'countries':
      for (const body of ruleBodies(form, row.id).slice(progress.rules)) {
        await api.post('/ip-rules', body);
        progress.rules += 1;
      }
      return;
    case 'limits':
      await api.patch(`/clients/${row.client_id}`, limitsBody(form));
      return;
    case 'enable':
      await api.patch(`/${collection}/${row.id}`, { status: 1 });
  }
}
