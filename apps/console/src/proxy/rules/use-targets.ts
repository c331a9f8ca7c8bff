import type { OutboundOverview } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { useResource } from '../../shared/state/use-resource.js';

/** The groups and built-ins that a rule can lead to. */
export function useTargets(): readonly string[] {
  const api = useApi();
  const { data } = useResource((signal) => api.get<OutboundOverview>('/outbound', { members: false }, signal), []);
  return [...new Set([...(data?.policies ?? []), 'DIRECT', 'REJECT', 'REJECT-DROP', 'PASS'])];
}
