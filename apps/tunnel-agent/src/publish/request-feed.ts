import type { HostRequestPage, HostRequestView } from '@gatehouse/contracts';
import type { GatewayApi } from '../gateway/gateway-api.js';

const LOOK_MS = 2_000;
/** More than this in two seconds is not read by anybody: the oldest are left out. */
const MOST = 100;

/** The requests of published hosts, each once, when it is over. */
export class RequestFeed {
  private readonly api: GatewayApi;
  private readonly show: (request: HostRequestView) => void;
  /** By host: the ids of the last answer that were shown. */
  private readonly shown = new Map<number, ReadonlySet<string>>();
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;

  constructor(api: GatewayApi, show: (request: HostRequestView) => void) {
    this.api = api;
    this.show = show;
  }

  /** Follows those of the hosts whose requests the gateway can record: older ones cannot. Never fails. */
  async follow(hostIds: readonly number[]): Promise<void> {
    for (const id of hostIds) {
      try {
        await this.api.call('PATCH', `/hosts/${id}`, { record_requests: 'requests' });
        this.shown.set(id, new Set());
      } catch {
        // The site is published, and that is what counts.
      }
    }
    this.again();
  }

  stop(): void {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
  }

  private again(): void {
    if (this.stopped || this.shown.size === 0) return;
    this.timer = setTimeout(() => void this.look(), LOOK_MS).unref();
  }

  private async look(): Promise<void> {
    for (const [id, shown] of this.shown) {
      try {
        const { items } = await this.api.call<HostRequestPage>('GET', `/hosts/${id}/requests?limit=${MOST}`);
        if (this.stopped) return;
        const over = items.filter(({ ended_ms: ended }) => ended !== null);
        for (const request of over.toReversed()) if (!shown.has(request.id)) this.show(request);
        this.shown.set(id, new Set(over.map((request) => request.id)));
      } catch {
        // The next look may succeed; what ends meanwhile is shown then.
      }
    }
    this.again();
  }
}
