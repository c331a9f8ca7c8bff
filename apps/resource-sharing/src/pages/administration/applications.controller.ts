import { AppError } from '@gatehouse/platform';
import { Body, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ReviewBody } from '../../administration/administration.dto.js';
import { ApplicationReviews } from '../../administration/application-reviews.js';
import { APPLICATION_STATUSES, type Application } from '../../applications/application-rows.js';
import { Applications } from '../../applications/applications.service.js';
import { visibleName } from '../../applications/visible-name.js';
import { SiteAccounts } from '../../site/site-accounts.service.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { pageNumber } from '../parts/tables.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { applicationList, reviewPage, type ReviewState } from './applications.view.js';
import { reviewQueue } from './review-queue.view.js';

const PAGE_SIZE = 50;

@PageController('admin', 'administrator')
export class AdminApplicationPagesController {
  constructor(
    private readonly applications: Applications,
    private readonly accounts: SiteAccounts,
    private readonly reviews: ApplicationReviews,
  ) {}

  @Get()
  overview(@Res() response: Response): void {
    response.redirect(303, '/admin/reviews');
  }

  /** Everything that is waiting for a decision, longest first. */
  @Get('reviews')
  async queue(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const { applications, total } = await this.applications.waiting(PAGE_SIZE);
    const owners = await this.accounts.namesOf(applications.map(({ ownerId }) => ownerId));
    sendPage(response, visitor, {
      title: visitor.words.text('admin.reviews'),
      body: reviewQueue(visitor, { applications, owners, total }),
      notice: noticeOf(visitor, query),
    });
  }

  @Get('applications')
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const given = query as { status?: unknown; page?: unknown; proposed?: unknown };
    const proposed = given.proposed === 'true';
    const status = APPLICATION_STATUSES.find((one) => one === given.status);
    const page = pageNumber(given.page);
    const selection = {
      ...(status === undefined ? {} : { status }),
      proposed,
      limit: PAGE_SIZE + 1,
      offset: (page - 1) * PAGE_SIZE,
    };
    const found = await this.applications.list(selection);
    const owners = await this.accounts.namesOf(found.map(({ ownerId }) => ownerId));
    const applications = found.slice(0, PAGE_SIZE);
    const body = applicationList(visitor, {
      applications,
      owners,
      status,
      proposed,
      page,
      hasMore: found.length > PAGE_SIZE,
    });
    sendPage(response, visitor, {
      title: visitor.words.text('admin.applications'),
      body,
      notice: noticeOf(visitor, query),
    });
  }

  @Get('applications/:client_id')
  one(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Query() query: object,
    @Res() response: Response,
  ): Promise<void> {
    return this.send(response, visitor, clientId, { notice: noticeOf(visitor, query) });
  }

  @Post('applications/:client_id')
  async review(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Body() body: object,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const review = validated(ReviewBody, {
        auth_level: values.text('auth_level'),
        status: values.text('status'),
        scopes: values.list('scopes'),
        quota_profile: values.optional('quota_profile') ?? null,
        proposal: values.optional('proposal'),
        seen_at: values.optional('seen_at'),
      });
      await this.reviews.review(visitor.account.id, clientId, review);
    });
    if (problem === undefined) response.redirect(303, done(`/admin/applications/${clientId}`, 'reviewed'));
    else await this.send(response, visitor, clientId, { values, problem });
  }

  /** Decides about one item, and continues with the next one. */
  @Post('applications/:client_id/decide')
  async decide(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Body() body: object,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const application = await this.require(clientId);
      const review = validated(ReviewBody, decisionOn(application, values));
      await this.reviews.review(visitor.account.id, clientId, review);
    });
    if (problem !== undefined) return this.send(response, visitor, clientId, { problem });
    const { applications } = await this.applications.waiting(1);
    const next = applications[0]?.clientId;
    response.redirect(303, done(next === undefined ? '/admin/reviews' : `/admin/applications/${next}`, 'decided'));
  }

  private async require(clientId: string): Promise<Application> {
    const application = await this.applications.findByClientId(clientId);
    if (application === null) throw new AppError('NOT_FOUND', 'The application does not exist');
    return application;
  }

  private async send(
    response: Response,
    visitor: Member,
    clientId: string,
    { notice, ...state }: ReviewState & { notice?: string | undefined },
  ): Promise<void> {
    const application = await this.require(clientId);
    const owners = await this.accounts.namesOf([application.ownerId]);
    const owner = owners.get(application.ownerId) ?? String(application.ownerId);
    const profiles = await this.reviews.profileNames();
    const body = reviewPage(visitor, { application, owner, profiles }, state);
    sendPage(response, visitor, { title: visibleName(application.name), body, notice, problem: state.problem });
  }
}

/** The review that a button means: for a reviewed application, only its change is decided. */
function decisionOn({ status, proposed }: Application, values: FormValues): Record<string, unknown> {
  const approves = values.text('decision') === 'approve';
  const seen = { seen_at: values.optional('seen_at') };
  if (status === 'approved' && proposed !== null) return { ...seen, proposal: approves ? 'accept' : 'refuse' };
  return approves ? { ...seen, status: 'approved', auth_level: 'verified' } : { ...seen, status: 'rejected' };
}
