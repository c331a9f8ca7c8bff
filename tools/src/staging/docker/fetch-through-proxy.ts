import type { RefreshResult, RuleView, SubscriptionView } from '@gatehouse/contracts';
import { ApiClient } from '../../tour/api-client.js';
import { Origin } from '../../tour/origin.js';
import { expectEqual } from '../../tour/script.js';

const NODES = 'ss://YWVzLTEyOC1nY206cGFzcw@192.0.2.1:8388#node\n';

/** What is needed of a running staging: the API of the proxy gateway, this machine as containers reach it, and the administrator's password. */
export interface FetchPlaces {
  proxyGateway: string;
  machine: string;
  password: string;
}

/**
 * Has a subscription fetched with `subscription.via_proxy` set to `always`. The worker does it, whose container is another
 * than the kernel's. @throws TourFailure when it does not come through the proxy.
 */
export async function fetchThroughProxy({ proxyGateway, machine, password }: FetchPlaces): Promise<void> {
  const api = new ApiClient(`${proxyGateway}/api/v1`);
  await api.login(password);
  const publisher = await Origin.start({ '/nodes': NODES }, machine);
  // Private addresses are refused unless a rule names them.
  const exception = { type: 'IP-CIDR', payload: `${machine}/32`, target: 'DIRECT', priority: 1 };
  const { id: ruleId } = await api.call<RuleView>('POST', '/rules', exception);
  const url = `http://${machine}:${publisher.port}/nodes`;
  const wanted = { name: 'rehearsal', url, type: 'auto', interval_sec: 86_400, enabled: true, allow_private: true };
  const { id } = await api.call<SubscriptionView>('POST', '/subscriptions', wanted);
  try {
    await api.call('PUT', '/settings', { 'subscription.via_proxy': 'always' });
    const { status, via, message } = await api.call<RefreshResult>('POST', `/subscriptions/${id}/refresh`);
    expectEqual(
      'the refresh through the proxy',
      { status, via, message },
      { status: 'updated', via: 'proxy', message: null },
    );
  } finally {
    await api.call('PUT', '/settings', { 'subscription.via_proxy': 'fallback' });
    await api.call('DELETE', `/subscriptions/${id}`);
    await api.call('DELETE', `/rules/${ruleId}`);
    await publisher.close();
  }
}
