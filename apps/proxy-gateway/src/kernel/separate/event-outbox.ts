import type { ControlLink } from '@gatehouse/net';
import type { EventBatch } from '../../common/kernel-ipc.js';
import type { NumberedBatch } from '../../common/kernel-channel.js';
import { addRange, type SpoolRange } from '../../common/spool-range.js';

/** Sends batches to the service that connected last, one at a time, repeating each until it is acknowledged. */
export class EventOutbox {
  private links: ControlLink[] = [];
  private underWay: { batch: NumberedBatch; done: () => void } | null = null;
  private number = 0;
  /** Records that each service has received; it may have stored some of them. */
  private readonly taken = new Map<ControlLink, SpoolRange[]>();
  private readonly onLost: (ranges: readonly SpoolRange[]) => void;

  /** @param onLost called with the records that a service had received when it disconnected. */
  constructor(onLost: (ranges: readonly SpoolRange[]) => void = () => undefined) {
    this.onLost = onLost;
  }

  get newest(): ControlLink | undefined {
    return this.links.at(-1);
  }

  /** Resolves when a service has acknowledged the batch, however long that takes. */
  send(events: EventBatch): Promise<void> {
    const batch: NumberedBatch = { type: 'events', number: ++this.number, ...events };
    return new Promise((resolve) => {
      this.underWay = { batch, done: resolve };
      this.offer();
    });
  }

  /** Sends everything from now on, and what was not acknowledged, over this link. */
  attach(link: ControlLink): void {
    this.links.push(link);
    link.onClose(() => {
      const wasNewest = this.links.at(-1) === link;
      this.links = this.links.filter((other) => other !== link);
      if (wasNewest) this.offer();
      const taken = this.taken.get(link) ?? [];
      this.taken.delete(link);
      if (taken.length > 0) this.onLost(taken);
    });
    this.offer();
  }

  acknowledged(number: number, by: ControlLink): void {
    if (this.underWay?.batch.number !== number) return;
    const { done, batch } = this.underWay;
    if (batch.source) this.noteTaken(by, batch.source);
    this.underWay = null;
    done();
  }

  /** The batch that is not acknowledged; null for none. */
  get unsent(): EventBatch | null {
    if (!this.underWay) return null;
    const { type: _type, number: _number, ...events } = this.underWay.batch;
    return events;
  }

  private noteTaken(by: ControlLink, range: SpoolRange): void {
    const ranges = this.taken.get(by) ?? [];
    addRange(ranges, range);
    this.taken.set(by, ranges);
  }

  private offer(): void {
    if (!this.underWay) return;
    // A link that does not accept the batch closes, and the next one gets it.
    void this.links
      .at(-1)
      ?.send(this.underWay.batch)
      .catch(() => undefined);
  }
}
