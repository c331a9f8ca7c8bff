import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Application } from '../applications/application-rows.js';
import { Applications } from '../applications/applications.service.js';
import { QuotaProfiles } from '../quota/quota-profiles.js';
import type { ReviewBody } from './administration.dto.js';

/** Decisions of administrators about applications. */
@Injectable()
export class ApplicationReviews {
  constructor(
    private readonly applications: Applications,
    private readonly profiles: QuotaProfiles,
  ) {}

  /** Names of the quota profiles that applications can have. */
  async profileNames(): Promise<string[]> {
    return (await this.profiles.list()).map(({ name }) => name);
  }

  /**
   * Rejecting or disabling an application ends all its grants.
   * @throws NOT_FOUND, CONFLICT, and INVALID_ARGUMENT for unknown limits.
   */
  async review(actorId: number, clientId: string, body: ReviewBody): Promise<Application> {
    const { auth_level: authLevel, status, scopes, quota_profile: quotaProfile, proposal } = body;
    const seenAt = body.seen_at === undefined ? undefined : new Date(body.seen_at);
    if (proposal !== undefined && seenAt === undefined) throw refusal('seen_at', 'must be given with proposal');
    if (quotaProfile != null && !(await this.profileNames()).includes(quotaProfile)) {
      throw refusal('quota_profile', 'is no profile of limits');
    }
    return this.applications.review(actorId, clientId, { authLevel, status, scopes, quotaProfile, proposal, seenAt });
  }
}

function refusal(field: string, message: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}
