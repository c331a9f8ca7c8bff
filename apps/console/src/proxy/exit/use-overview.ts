import type { OutboundOverview } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { useResource, type Resource } from '../../shared/state/use-resource.js';

const LOOK_MS = 5_000;

/** The groups and what they use now, without their members. */
export function useOverview(): Resource<OutboundOverview> {
  const api = useApi();
  return useResource((signal) => api.get<OutboundOverview>('/outbound', { members: false }, signal), [], {
    everyMs: LOOK_MS,
    areas: ['groups', 'nodes', 'node-health'],
  });
}
