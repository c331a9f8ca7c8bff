import { Requires } from '@gatehouse/auth';
import { AppError, Fails } from '@gatehouse/platform';
import { Body, Controller, Get, Param, Patch, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Applications } from '../applications/applications.service.js';
import { CurrentUserId } from '../wire/current-user.js';
import { ApiEnvelope, ApiEnvelopeArray } from '../wire/api-envelope.js';
import { ApplicationsQuery, ReviewBody } from './administration.dto.js';
import { ApplicationReviews } from './application-reviews.js';
import { ReviewedApplicationView, toReviewedApplicationView } from './administration.view.js';

@ApiTags('administration')
@Requires('admin')
@Controller('api/site/admin/applications')
export class AdminApplicationsController {
  constructor(
    private readonly applications: Applications,
    private readonly reviews: ApplicationReviews,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Applications of all developers, newest first' })
  @ApiEnvelopeArray(ReviewedApplicationView)
  async list(
    @Query() { status, proposed, page, page_size: limit }: ApplicationsQuery,
  ): Promise<ReviewedApplicationView[]> {
    const selection = status === undefined ? {} : { status };
    const found = await this.applications.list({
      ...selection,
      proposed: proposed === 'true',
      limit,
      offset: (page - 1) * limit,
    });
    return found.map(toReviewedApplicationView);
  }

  @Get(':client_id')
  @ApiOperation({ summary: 'One application' })
  @ApiEnvelope(ReviewedApplicationView)
  @Fails('NOT_FOUND')
  async one(@Param('client_id') clientId: string): Promise<ReviewedApplicationView> {
    const application = await this.applications.findByClientId(clientId);
    if (application === null) throw new AppError('NOT_FOUND', 'The application does not exist');
    return toReviewedApplicationView(application);
  }

  @Patch(':client_id')
  @ApiOperation({ summary: 'Review an application; rejecting or disabling it ends all its authorizations' })
  @ApiEnvelope(ReviewedApplicationView)
  @Fails('NOT_FOUND', 'CONFLICT')
  async review(
    @CurrentUserId() actorId: number,
    @Param('client_id') clientId: string,
    @Body() body: ReviewBody,
  ): Promise<ReviewedApplicationView> {
    return toReviewedApplicationView(await this.reviews.review(actorId, clientId, body));
  }
}
