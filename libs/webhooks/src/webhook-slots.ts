/** A slow webhook does not delay the others of its owner. */
const OF_ONE_WEBHOOK = 2;
/** The slow webhooks of one owner do not delay those of others. */
const OF_ONE_OWNER = 4;
/** After this time others have their turn. */
const TURN_MS = 30_000;

interface Owner {
  running: number;
  /** Running attempts by webhook. */
  slots: Map<number, number>;
  /** Webhooks that found no free slot: they may have due deliveries. */
  waiting: Set<number>;
}

/** Limits the attempts of this process, so that no owner's webhooks take all of its capacity. */
export class WebhookSlots {
  private readonly owners = new Map<number, Owner>();

  /**
   * Attempts what is due for a webhook, and then for others of its owner that found no slot. `drain` works until a time
   * of `performance`, and resolves to whether nothing was left. False: the turn is over, and something may be left.
   */
  async run(
    { ownerId, webhookId }: { ownerId: number; webhookId: number },
    drain: (webhookId: number, until: number) => Promise<boolean>,
  ): Promise<boolean> {
    const owner = this.owners.get(ownerId) ?? { running: 0, slots: new Map(), waiting: new Set() };
    this.owners.set(ownerId, owner);
    if (owner.running >= OF_ONE_OWNER || isFull(owner, webhookId)) {
      owner.waiting.add(webhookId);
      return true;
    }
    owner.running += 1;
    try {
      return await work(owner, webhookId, drain);
    } finally {
      owner.running -= 1;
      if (owner.running === 0 && owner.waiting.size === 0) this.owners.delete(ownerId);
    }
  }
}

async function work(
  owner: Owner,
  first: number,
  drain: (webhookId: number, until: number) => Promise<boolean>,
): Promise<boolean> {
  const until = performance.now() + TURN_MS;
  for (let webhookId: number | undefined = first; webhookId !== undefined; webhookId = next(owner)) {
    owner.slots.set(webhookId, (owner.slots.get(webhookId) ?? 0) + 1);
    try {
      if (!(await drain(webhookId, until))) return false;
    } finally {
      const left = (owner.slots.get(webhookId) ?? 1) - 1;
      if (left > 0) owner.slots.set(webhookId, left);
      else owner.slots.delete(webhookId);
    }
    if (performance.now() > until) return owner.waiting.size === 0;
  }
  return true;
}

function isFull({ slots }: Owner, webhookId: number): boolean {
  return (slots.get(webhookId) ?? 0) >= OF_ONE_WEBHOOK;
}

function next(owner: Owner): number | undefined {
  const found = [...owner.waiting].find((webhookId) => !isFull(owner, webhookId));
  if (found !== undefined) owner.waiting.delete(found);
  return found;
}
