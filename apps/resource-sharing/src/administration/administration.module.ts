import { Module } from '@nestjs/common';
import { ApplicationsModule } from '../applications/applications.module.js';
import { MailDeliveryModule } from '../mail-delivery/mail-delivery.module.js';
import { OpenApiModule } from '../open-api/open-api.module.js';
import { SharesModule } from '../shares/shares.module.js';
import { SiteModule } from '../site/site.module.js';
import { AdminApplicationsController } from './admin-applications.controller.js';
import { AdminAuditController } from './admin-audit.controller.js';
import { AdminLimitsController } from './admin-limits.controller.js';
import { AdminMailsController } from './admin-mails.controller.js';
import { AdminOperationsController } from './admin-operations.controller.js';
import { AdminSharesController } from './admin-shares.controller.js';
import { AdminUsersController } from './admin-users.controller.js';
import { ApplicationReviews } from './application-reviews.js';
import { MailAdministration } from './mail-administration.js';
import { ShareAdministration } from './share-administration.js';
import { UserAdministration } from './user-administration.js';

@Module({
  imports: [ApplicationsModule, MailDeliveryModule, OpenApiModule, SharesModule, SiteModule],
  controllers: [
    AdminApplicationsController,
    AdminUsersController,
    AdminSharesController,
    AdminOperationsController,
    AdminLimitsController,
    AdminAuditController,
    AdminMailsController,
  ],
  providers: [ApplicationReviews, MailAdministration, ShareAdministration, UserAdministration],
  exports: [ApplicationReviews, MailAdministration, ShareAdministration, UserAdministration],
})
export class AdministrationModule {}
