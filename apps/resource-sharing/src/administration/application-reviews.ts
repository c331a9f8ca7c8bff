import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Application } from '../applications/application-rows.js';
import { Applications } from '../applications/applications.service.js';
import { QuotaProfiles } from '../quota/quota-profiles.js';
import type { ReviewBody } from './administration.dto.js';

/** What administrators decide about applications. */
@Injectable()
export class ApplicationReviews {
  constructor(
    private readonly applications: Applications,
    private readonly profiles: QuotaProfiles,
  ) {}

  /** Names of the limits that an application may be given. */
  async profileNames(): Promise<string[]> {
    return (await this.profiles.list()).map(({ name }) => name);
  }

  /** Rejecting or disabling an application ends all its grants. Raises NOT_FOUND, and INVALID_ARGUMENT for unknown limits. */
  async review(actorId: number, clientId: string, body: ReviewBody): Promise<Application> {
    const { auth_level: authLevel, status, scopes, quota_profile: quotaProfile } = body;
    if (quotaProfile != null && !(await this.profileNames()).includes(quotaProfile)) {
      const message = 'is no profile of limits';
      throw new AppError('INVALID_ARGUMENT', `quota_profile: ${message}`, {
        details: [{ field: 'quota_profile', message }],
      });
    }
    return this.applications.review(actorId, clientId, { authLevel, status, scopes, quotaProfile });
  }
}
