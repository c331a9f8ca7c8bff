import type { CertificatesPayload } from '@gatehouse/contracts';
import { JobHandler, type HandlesJobs, type JobContext } from '@gatehouse/jobs';
import { ExpiryWarnings } from './expiry-warnings.js';
import { AcmeIssuer } from './acme-issuer.js';
import { AcmeSweep } from './acme-sweep.js';
import { RenewalInquiry } from './renewal-inquiry.js';

/** An authority may take minutes for an order. */
const AT_ONCE = 4;

/** The database says what is due, not the job: a job that runs twice has nothing to do the second time. */
@JobHandler('certificates', { concurrency: AT_ONCE })
export class CertificatesHandler implements HandlesJobs<'certificates'> {
  constructor(
    private readonly sweep: AcmeSweep,
    private readonly issuer: AcmeIssuer,
    private readonly inquiry: RenewalInquiry,
    private readonly warnings: ExpiryWarnings,
  ) {}

  async handle({ hostId, task }: CertificatesPayload, { signal }: JobContext): Promise<unknown> {
    if (hostId === undefined) return { jobs: await this.sweep.run(), warnings: await this.warnings.run() };
    if (task === 'renewal-info') return { changed: await this.inquiry.ask(hostId, signal) };
    return { outcome: await this.issuer.issue(hostId, signal) };
  }
}
