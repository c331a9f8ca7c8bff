import type { AddressListsPayload } from '@gatehouse/contracts';
import { JobHandler, Jobs, type HandlesJobs } from '@gatehouse/jobs';
import { ListRefresher } from './list-refresher.js';

/** More than there can be. */
const MAX_DUE = 100;
const AT_ONCE = 2;

/** The table says what is due, not the job: a job that runs twice asks a server that answers 304. */
@JobHandler('address-lists', { concurrency: AT_ONCE })
export class AddressListsHandler implements HandlesJobs<'address-lists'> {
  constructor(
    private readonly refresher: ListRefresher,
    private readonly jobs: Jobs,
  ) {}

  async handle({ listId }: AddressListsPayload): Promise<unknown> {
    if (listId !== undefined) return { outcome: await this.refresher.refresh(listId) };
    const due = await this.refresher.due(MAX_DUE);
    for (const id of due) {
      const payload = { listId: id, requestedAt: Date.now() };
      await this.jobs.add('address-lists', payload, { jobId: `list-${id}`, attempts: 1 });
    }
    return { jobs: due.length };
  }
}
