import { Module } from '@nestjs/common';
import { KernelConfigModule } from '../kernel-config/kernel-config.module.js';
import { PublicationFetchController } from './publication-fetch.controller.js';
import { PublicationFetch } from './publication-fetch.service.js';
import { PublicationWriter } from './publication-writer.js';
import { PublicationsController } from './publications.controller.js';
import { PublicationsService } from './publications.service.js';
import { TemplateStore } from './template-store.js';
import { PublicationTemplatesController } from './templates.controller.js';
import { TemplatesService } from './templates.service.js';

@Module({
  imports: [KernelConfigModule],
  controllers: [PublicationsController, PublicationTemplatesController, PublicationFetchController],
  providers: [PublicationsService, PublicationWriter, PublicationFetch, TemplatesService, TemplateStore],
})
export class PublicationsModule {}
